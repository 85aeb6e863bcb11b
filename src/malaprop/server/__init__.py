"""The REST service: `malaprop serve`.

settings    what the operator chooses
models      the bodies of requests and answers
problems    errors in one form, without the caller's text
security    who may call: keys, loopback, limits on bodies and rates
keys        API keys, kept as hashes
engine      privatizers, and the threads that they work in
jobs        files: uploads, runs, results
telemetry   logs and metrics, without text
app         the endpoints, put together
"""
