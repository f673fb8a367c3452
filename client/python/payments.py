"""Calls the payments service from Python 3.9 or newer, with the standard library alone. Copy this file; it is yours to change.

    from payments import Payments
    client = Payments("http://localhost:3000", os.environ["PAYMENTS_API_KEY"])
    payment = client.post("/v1/payments", {"beneficiary_id": "ben_…", "amount_minor": "25000"}, key="invoice-4711")
    payment = client.wait_for("/v1/payments/" + payment["id"], until=FINAL)

Amounts are strings of minor units: "25000" is KES 250.00. Every POST has an idempotency key, so sending it again is safe; give your own key,
stored before the call, where the program may restart. The API's reference is at /docs of the service.
"""
from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Collection, Iterator, Mapping, Optional

Json = Any
# A payment in one of these states changes no more, except `succeeded`, which may be `returned`. `unknown` is not an end: wait, and do not pay again.
FINAL = ("succeeded", "failed", "rejected", "cancelled", "expired", "returned")
LONGEST_WAIT_SECONDS = 60.0


class PaymentsError(Exception):
    """The service's refusal: `code` is stable, the message is a sentence, `details` say more, `request_id` finds it in the logs."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Json], request_id: Optional[str]) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.details = details
        self.request_id = request_id


class NoAnswer(Exception):
    """No answer arrived: whether the request took effect is not known. The same call with the same `key` has one effect."""

    def __init__(self, why: str, key: Optional[str]) -> None:
        super().__init__(f"No answer arrived: {why}")
        self.key = key


def _refusal(error: urllib.error.HTTPError) -> PaymentsError:
    text = error.read().decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    return PaymentsError(
        error.code,
        str(body.get("error", "unexpected_response")),
        str(body.get("message", f"The service answered {error.code}.")),
        body.get("details") or {},
        error.headers.get("X-Request-Id"),
    )


def _may_pass(error: urllib.error.HTTPError) -> bool:
    """The service says itself whether trying again can help; without its word, the statuses of failures that pass."""
    said = error.headers.get("Payments-Should-Retry")
    return said == "true" if said is not None else error.code in (429, 502, 503, 504)


def _retry_after(error: urllib.error.HTTPError) -> Optional[float]:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "")))
    except ValueError:
        return None


class Payments:
    def __init__(self, base_url: str, api_key: str, retries: int = 4, timeout_seconds: float = 30.0) -> None:
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self.retries = retries
        self.timeout_seconds = timeout_seconds

    def get(self, path: str, query: Optional[Mapping[str, Json]] = None) -> Json:
        return self._call("GET", path, None, None, query)

    def post(self, path: str, body: Optional[Mapping[str, Json]] = None, key: Optional[str] = None) -> Json:
        return self._call("POST", path, {} if body is None else body, key or uuid.uuid4().hex, None)

    def patch(self, path: str, body: Mapping[str, Json]) -> Json:
        return self._call("PATCH", path, body, None, None)

    def delete(self, path: str) -> Json:
        return self._call("DELETE", path, None, None, None)

    def items(self, path: str, query: Optional[Mapping[str, Json]] = None) -> Iterator[Json]:
        """Every item of a list; its pages are read as the loop reaches them."""
        cursor: Optional[str] = None
        while True:
            page = self.get(path, {**(query or {}), **({} if cursor is None else {"cursor": cursor})})
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def wait_for(self, path: str, until: Collection[str] = FINAL, timeout_seconds: float = 300.0) -> Json:
        """Reads it, with growing pauses, until its status is one of `until`. TimeoutError after that: it may still end later."""
        deadline, pause = time.monotonic() + timeout_seconds, 0.25
        while True:
            record = self.get(path)
            if record["status"] in until:
                return record
            if time.monotonic() + pause > deadline:
                raise TimeoutError(f"{path} is still {record['status']}.")
            time.sleep(pause)
            pause = min(3.0, pause * 1.6)

    def events(self, after: Optional[str] = None) -> Iterator[Json]:
        """Events as they happen, each once and in order; reconnects and resumes. Store the last event's `id` and give it as `after` to
        go on from there after a restart. `stream.reset` means that events were lost: read the records that you keep again."""
        pause = 0.5
        while True:
            headers = {"Authorization": "Bearer " + self.api_key, "Accept": "text/event-stream"}
            if after is not None:
                headers["Last-Event-ID"] = after
            request = urllib.request.Request(self.base_url + "/v1/notifications/stream", headers=headers)
            try:
                # The service sends a line at least every 25 seconds, so a longer silence is a lost connection.
                with urllib.request.urlopen(request, timeout=60) as answer:
                    pause = 0.5
                    for line in answer:
                        if line.startswith(b"data:"):
                            event = json.loads(line[5:])
                            after = event["id"] or after
                            yield event
            except urllib.error.HTTPError as error:
                if not _may_pass(error):
                    raise _refusal(error) from None
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(pause * (1 + random.random()))
            pause = min(15.0, pause * 2)

    def _call(self, method: str, path: str, body: Json, key: Optional[str], query: Optional[Mapping[str, Json]]) -> Json:
        url = self.base_url + path + ("?" + urllib.parse.urlencode(query, doseq=True) if query else "")
        headers = {"Authorization": "Bearer " + self.api_key, "Content-Type": "application/json", "Accept": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            wait = min(8.0, 0.25 * 2**attempt) * (0.5 + random.random() / 2)
            try:
                request = urllib.request.Request(url, data, headers, method=method)
                with urllib.request.urlopen(request, timeout=self.timeout_seconds) as answer:
                    text = answer.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                asked = _retry_after(error)
                if last or not _may_pass(error) or (asked or 0.0) > LONGEST_WAIT_SECONDS:
                    raise _refusal(error) from None
                wait = wait if asked is None else asked
            except (OSError, http.client.HTTPException) as error:
                # A PATCH may carry a version: sent again after its answer was lost it would be refused although it took effect.
                if last or method == "PATCH":
                    raise NoAnswer(str(error), key) from error
            time.sleep(wait)
        raise AssertionError("every attempt returns or raises")
