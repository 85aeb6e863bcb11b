# The REST service, for a database of its own (see compose.yaml) or SQLite in /var/lib/malaprop.
#   docker build -t malaprop .
FROM python:3.12-slim AS build

WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/malaprop \
 && /opt/malaprop/bin/pip install --no-cache-dir --constraint constraints.txt '.[server]'

FROM python:3.12-slim

RUN useradd --system --uid 10001 --home-dir /var/lib/malaprop --create-home malaprop \
 && chmod 700 /var/lib/malaprop
COPY --from=build /opt/malaprop /opt/malaprop

ENV PATH="/opt/malaprop/bin:$PATH" \
    MALAPROP_STATE=/var/lib/malaprop \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
VOLUME /var/lib/malaprop
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/v1/ready', timeout=5)"]

# Every call needs a key: make the first one with  malaprop keys create NAME.
ENTRYPOINT ["malaprop"]
CMD ["serve", "--host", "0.0.0.0"]
