-- wrk sends a new sentence of 12 words with each request: wrk -s new_sentences.lua URL -- PATH WORDS
local words, path, threads = {}, "", 0

function setup(thread)
  thread:set("seed", threads)
  threads = threads + 1
end

function init(args)
  path = args[1]
  for word in io.lines(args[2]) do words[#words + 1] = word end
  math.randomseed(os.time() + seed)
end

function request()
  local chosen = {}
  for i = 1, 12 do chosen[i] = words[math.random(#words)] end
  local text = table.concat(chosen, " ") .. "."
  local body = '{"text": "' .. text .. '", "epsilon": 1.5}'
  return wrk.format("POST", path, { ["Content-Type"] = "application/json" }, body)
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format('{"requests": %d, "errors": %d, "seconds": %f, "p50": %f, "p99": %f}\n',
    summary.requests, errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
