"""The client of the payments service for Python 3.9 or newer. It needs the standard library alone. Copy this file; it is yours to change.

    from payments import Payments
    client = Payments("http://localhost:3000", os.environ["PAYMENTS_API_KEY"])
    payment = client.payments.create({"beneficiary_id": "ben_…", "amount_minor": "25000"}, idempotency_key="invoice-4711")
    payment = client.payments.wait_for(payment["id"])

Amounts are strings of minor units: "25000" is KES 250.00. Every POST has an idempotency key, so sending it again is safe. Give your own key,
stored before the call, where the program may restart. `client.call` reaches every other route of the API; its reference is at /docs.
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
from collections import OrderedDict
from typing import Any, Callable, Collection, Dict, Generic, Iterable, Iterator, List, Mapping, Optional, TypedDict, TypeVar, Union, cast

Json = Any
Filters = Mapping[str, Json]
LONGEST_WAIT_SECONDS = 60.0
_PASSING = (429, 502, 503, 504)


class Payee(TypedDict):
    id: str
    display_name: str
    destination_mask: str


class Payment(TypedDict):
    id: str
    status: str
    amount_minor: str
    fee_minor: str
    currency: str
    beneficiary_id: str
    beneficiary: Payee
    payment_type: str
    payment_rail: str
    purpose_code: Optional[str]
    account_reference: Optional[str]
    narrative: Optional[str]
    metadata: Dict[str, str]
    idempotency_key: Optional[str]
    mandate_id: Optional[str]
    approval_id: Optional[str]
    batch_id: Optional[str]
    execute_at: Optional[str]
    provider_receipt: Optional[str]
    failure_code: Optional[str]
    failure_message: Optional[str]
    decision: Dict[str, Json]
    created_at: str


class _NewPayment(TypedDict):
    beneficiary_id: str
    amount_minor: str


class NewPayment(_NewPayment, total=False):
    payment_type: str
    purpose_code: str
    account_reference: str
    narrative: str
    mandate_id: str
    metadata: Dict[str, str]
    execute_at: str
    duplicate_of: str
    on_duplicate: str


class Topup(TypedDict):
    id: str
    workspace_id: str
    status: str
    amount_minor: Optional[str]
    received_minor: Optional[str]
    currency: str
    method: str
    phone_number_mask: Optional[str]
    instructions: Optional[Dict[str, str]]
    provider_receipt: Optional[str]
    failure_code: Optional[str]
    failure_message: Optional[str]
    expires_at: str
    created_at: str


class NewTopup(TypedDict, total=False):
    amount_minor: str
    phone_number: str
    method: str
    metadata: Dict[str, str]


class Beneficiary(TypedDict):
    id: str
    workspace_id: str
    type: str
    display_name: str
    legal_name: Optional[str]
    payment_rail: str
    destination_mask: str
    account_reference: Optional[str]
    bank_code: Optional[str]
    metadata: Dict[str, str]
    status: str
    confirmation: str
    verification: Dict[str, Json]
    created_at: str


class _NewBeneficiary(TypedDict):
    type: str
    display_name: str
    payment_rail: str
    destination: str


class NewBeneficiary(_NewBeneficiary, total=False):
    legal_name: str
    account_reference_required: bool
    account_reference: str
    bank_code: str
    metadata: Dict[str, str]


class PaymentBatch(TypedDict):
    id: str
    status: str
    name: Optional[str]
    items_count: int
    total_minor: str
    fees_minor: str
    currency: str
    counts: Dict[str, int]
    approval_id: Optional[str]
    execute_at: Optional[str]
    again_of: Optional[str]
    created_at: str


class _RepeatedItem(TypedDict):
    batch_index: int


class RepeatedItem(_RepeatedItem, total=False):
    amount_minor: str
    payment_type: str
    purpose_code: Optional[str]
    account_reference: Optional[str]
    narrative: Optional[str]
    metadata: Dict[str, str]
    omit: bool


class NewBatch(TypedDict, total=False):
    """`items`: what is paid. With `again`, the id of an earlier batch: what differs from its items."""

    items: List[Union[NewPayment, RepeatedItem]]
    again: str
    name: str
    execute_at: str
    metadata: Dict[str, str]
    duplicates_intended: bool


class Event(TypedDict):
    id: Optional[str]
    type: str
    created_at: str
    data: Dict[str, Json]


class PaymentsError(Exception):
    """The service refused. `code` is stable, the message is a sentence, `details` say more, `request_id` finds it in the logs."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Json], request_id: Optional[str]) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.request_id = request_id


class NoAnswer(Exception):
    """No answer arrived: whether the request took effect is not known. The same call with the same key has one effect."""

    def __init__(self, why: str, idempotency_key: Optional[str]) -> None:
        super().__init__(f"No answer arrived: {why}")
        self.idempotency_key = idempotency_key


class WaitTimeout(TimeoutError):
    """It has not ended yet, and may still end. `last` is what was read last."""

    def __init__(self, last: Json) -> None:
        advice = ": its outcome is still unknown, and sending it again could pay twice" if last["status"] == "unknown" else ""
        super().__init__(f"{last['id']} is still {last['status']}{advice}.")
        self.last = last


def _refusal(error: urllib.error.HTTPError, key: Optional[str] = None) -> PaymentsError:
    try:
        text = error.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as cut:
        raise NoAnswer(f"{cut} ({error.url})", key) from cut
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
    """The service says itself whether trying again can help. Without its word: the statuses of failures that pass."""
    said = error.headers.get("Payments-Should-Retry")
    return said == "true" if said is not None else error.code in _PASSING


def _retry_after(error: urllib.error.HTTPError) -> Optional[float]:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "")))
    except ValueError:
        return None


def _query(values: Optional[Filters]) -> str:
    """`{"status": ["failed"], "metadata": {"order": "17"}}` as `?status=failed&metadata[order]=17`."""
    pairs: List[tuple[str, str]] = []
    for name, value in (values or {}).items():
        if isinstance(value, Mapping):
            pairs.extend((f"{name}[{inner}]", str(one)) for inner, one in cast(Mapping[str, Json], value).items())
        elif isinstance(value, (list, tuple)):
            pairs.extend((name, str(one)) for one in cast(List[Json], value))
        elif value is not None:
            pairs.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return "?" + urllib.parse.urlencode(pairs) if pairs else ""


def _at(path: str, id: str) -> str:
    return path + "/" + urllib.parse.quote(id, safe="")


T = TypeVar("T")


class Pages(Generic[T]):
    """A list, whose pages are read as the loop reaches them: `for payment in client.payments.list({"status": "failed"})`."""

    def __init__(self, client: Payments, path: str, filters: Optional[Filters]) -> None:
        self._client = client
        self._path = path
        self._filters = filters or {}

    def page(self, cursor: Optional[str] = None) -> Dict[str, Json]:
        """One page as the API answers it, `{"data": […], "next_cursor": …}`: the first, or the one after `cursor`."""
        return self._client.call("GET", self._path, query={**self._filters, "cursor": cursor})

    def __iter__(self) -> Iterator[T]:
        cursor: Optional[str] = None
        while True:
            page = self.page(cursor)
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def to_list(self, limit: int) -> List[T]:
        """At most `limit` items."""
        items: List[T] = []
        for item in self if limit > 0 else ():
            items.append(item)
            if len(items) >= limit:
                break
        return items


def _events_of(answer: Iterable[bytes]) -> Iterator[Event]:
    for line in answer:
        # A line without its end was cut with the connection.
        if line.startswith(b"data:") and line.endswith(b"\n"):
            yield cast(Event, json.loads(line[5:]))


class _Resource:
    def __init__(self, client: Payments) -> None:
        self._client = client

    def _wait(self, path: str, is_over: Callable[[str], bool], timeout_seconds: float, on_read: Callable[[Json], None]) -> Json:
        deadline, pause = time.monotonic() + timeout_seconds, 0.25
        while True:
            record = self._client.call("GET", path)
            on_read(record)
            if is_over(record["status"]):
                return record
            left = deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeout(record)
            time.sleep(min(pause, left))
            pause = min(3.0, pause * 1.6)


def _ignore(_record: Json) -> None:
    return None


class _Account(_Resource):
    def get(self) -> Dict[str, Json]:
        """The account with the balance of its personal workspace."""
        return self._client.call("GET", "/v1/accounts/me")


class _Workspaces(_Resource):
    _path = "/v1/workspaces/current"

    def list(self, filters: Optional[Filters] = None) -> Pages[Dict[str, Json]]:
        """The workspaces of the account, with its role in each."""
        return Pages(self._client, "/v1/workspaces", filters)

    def current(self) -> Dict[str, Json]:
        """The workspace of this credential: `client.workspaces.current()["workspace"]["balance"]["available_minor"]`."""
        return self._client.call("GET", self._path)

    def history(self, filters: Optional[Filters] = None) -> Pages[Dict[str, Json]]:
        """Every change of the workspace's balance, newest first."""
        return Pages(self._client, self._path + "/history", filters)

    def history_csv(self, filters: Optional[Filters] = None) -> str:
        return self._client.call("GET", self._path + "/history", query=filters, accept="text/csv")

    def statement(self, period: Optional[Filters] = None) -> Dict[str, Json]:
        """Entries booked between two dates (`from`, `to`), oldest first: a page, and the next one with `cursor`."""
        return self._client.call("GET", self._path + "/statement", query=period)

    def statement_csv(self, period: Optional[Filters] = None) -> str:
        """The whole statement as CSV, with amounts in major units and local dates."""
        return self._client.call("GET", self._path + "/statement", query=period, accept="text/csv")


class _Credentials(_Resource):
    def current(self) -> Dict[str, Json]:
        """The permissions and the remaining limits of this credential."""
        return self._client.call("GET", "/v1/credentials/current")


class _ApiKeys(_Resource):
    _path = "/v1/accounts/me/api-keys"

    def create(self, body: Mapping[str, Json], idempotency_key: Optional[str] = None) -> Dict[str, Json]:
        """Creates an API key. Only the first answer has `key`. If it was lost, revoke the key that a retry returns, and create another."""
        return self._client.call("POST", self._path, body, idempotency_key)

    def list(self, filters: Optional[Filters] = None) -> Pages[Dict[str, Json]]:
        return Pages(self._client, self._path, filters)

    def get(self, id: str) -> Dict[str, Json]:
        return self._client.call("GET", _at(self._path, id))

    def update(self, id: str, body: Mapping[str, Json]) -> Dict[str, Json]:
        """Changes the name or the spending controls. A field that is left out stays; None removes a limit."""
        return self._client.call("PATCH", _at(self._path, id), body)

    def rotate(self, id: str, body: Optional[Mapping[str, Json]] = None) -> Dict[str, Json]:
        """Creates a new key on the same grant. The old key works until the overlap has passed. A retry after a lost answer returns no `key`."""
        return self._client.call("POST", _at(self._path, id) + "/rotate", body)

    def revoke(self, id: str) -> Dict[str, Json]:
        """Revokes the key: the next request with it is refused."""
        return self._client.call("DELETE", _at(self._path, id))


class _Beneficiaries(_Resource):
    _path = "/v1/beneficiaries"

    def create(self, body: NewBeneficiary, idempotency_key: Optional[str] = None) -> Beneficiary:
        """Creates a payee. Its destination is stored encrypted and never returned."""
        return self._client.call("POST", self._path, body, idempotency_key)

    def list(self, filters: Optional[Filters] = None) -> Pages[Beneficiary]:
        return Pages(self._client, self._path, filters)

    def get(self, id: str) -> Beneficiary:
        return self._client.call("GET", _at(self._path, id))

    def update(self, id: str, body: Mapping[str, Json]) -> Beneficiary:
        """Changes names and metadata, or freezes the payee. A destination cannot be changed."""
        return self._client.call("PATCH", _at(self._path, id), body)

    def confirm(self, id: str) -> Beneficiary:
        """A person has looked at who is paid. Keys and agents cannot."""
        return self._client.call("POST", _at(self._path, id) + "/confirm")

    def verify(self, id: str) -> Beneficiary:
        """Asks the rail again whose number it is. The answer comes later, in `verification`."""
        return self._client.call("POST", _at(self._path, id) + "/verify")

    def archive(self, id: str) -> Beneficiary:
        """Archives the payee: it can no longer be paid."""
        return self._client.call("DELETE", _at(self._path, id))

    def payments(self, id: str, filters: Optional[Filters] = None) -> Pages[Payment]:
        return Pages(self._client, _at(self._path, id) + "/payments", filters)


class _Payments(_Resource):
    _path = "/v1/payments"
    # `succeeded` may still become `returned`. `unknown` is not an end: only the provider ends it, and paying again could pay twice.
    _final = ("succeeded", "failed", "rejected", "cancelled", "expired", "returned")

    def create(self, body: NewPayment, idempotency_key: Optional[str] = None) -> Payment:
        """Pays. With the same idempotency key there is one payment."""
        return self._client.call("POST", self._path, body, idempotency_key)

    def simulate(self, body: NewPayment) -> Dict[str, Json]:
        """The decision about such a payment now. Moves no money."""
        return self._client.call("POST", "/v1/spending-policies/simulate", body)

    def list(self, filters: Optional[Filters] = None) -> Pages[Payment]:
        return Pages(self._client, self._path, filters)

    def csv(self, filters: Optional[Filters] = None) -> str:
        """All payments that the filters match, as CSV."""
        return self._client.call("GET", self._path, query=filters, accept="text/csv")

    def summary(self, filters: Optional[Filters] = None) -> Dict[str, Json]:
        """How many payments the filters match, and their sums."""
        return self._client.call("GET", self._path + "/summary", query=filters)

    def get(self, id: str) -> Payment:
        return self._client.call("GET", _at(self._path, id))

    def refusals(self, filters: Optional[Filters] = None) -> Pages[Dict[str, Json]]:
        """Payments that were refused, and why."""
        return Pages(self._client, "/v1/payment-refusals", filters)

    def receipt(self, id: str) -> Dict[str, Json]:
        return self._client.call("GET", _at(self._path, id) + "/receipt")

    def cancel(self, id: str) -> Payment:
        """Cancels a payment that waits for its approval or its time."""
        return self._client.call("POST", _at(self._path, id) + "/cancel")

    def wait_for(self, id: str, timeout_seconds: float = 120.0, stop_at: Collection[str] = ()) -> Payment:
        """Returns when the payment has ended, or has a status of `stop_at`."""
        return self._wait(_at(self._path, id), lambda status: status in self._final or status in stop_at, timeout_seconds, _ignore)


class _Batches(_Resource):
    _path = "/v1/payment-batches"
    _final = ("completed", "failed", "rejected", "expired", "cancelled")

    def create(self, body: NewBatch, idempotency_key: Optional[str] = None) -> PaymentBatch:
        """Makes many payments with one approval: all of them or none. With the same idempotency key there is one batch."""
        return self._client.call("POST", self._path, body, idempotency_key)

    def from_csv(self, csv: str, options: Optional[Filters] = None, idempotency_key: Optional[str] = None) -> PaymentBatch:
        """The same from a CSV file, as a spreadsheet saves it. `options`: name, execute_at, duplicates_intended."""
        return self._client.call("POST", self._path, csv, idempotency_key, options)

    def check(self, body: NewBatch) -> Dict[str, Json]:
        """Checks a batch in the same way and creates nothing."""
        return self._client.call("POST", self._path, body, query={"dry_run": True})

    def check_csv(self, csv: str, options: Optional[Filters] = None) -> Dict[str, Json]:
        """Checks a list in CSV and creates nothing."""
        return self._client.call("POST", self._path, csv, query={**(options or {}), "dry_run": True})

    def list(self, filters: Optional[Filters] = None) -> Pages[PaymentBatch]:
        return Pages(self._client, self._path, filters)

    def get(self, id: str) -> PaymentBatch:
        return self._client.call("GET", _at(self._path, id))

    def lines(self, id: str) -> Dict[str, Json]:
        """The lines that approve the batch's items, for who checks a signature."""
        return self._client.call("GET", _at(self._path, id) + "/lines")

    def cancel(self, id: str) -> PaymentBatch:
        return self._client.call("POST", _at(self._path, id) + "/cancel")

    def wait_for(
        self,
        id: str,
        timeout_seconds: float = 120.0,
        stop_at: Collection[str] = (),
        on_read: Callable[[PaymentBatch], None] = _ignore,
    ) -> PaymentBatch:
        """Returns when every payment of the batch has ended; `counts` says how. `on_read` gets every state on the way."""
        return self._wait(_at(self._path, id), lambda status: status in self._final or status in stop_at, timeout_seconds, on_read)


class _Topups(_Resource):
    _path = "/v1/topups"

    def initiate(self, body: NewTopup, idempotency_key: Optional[str] = None) -> Topup:
        """Sends an M-PESA prompt to a phone, or says where to pay in."""
        return self._client.call("POST", self._path + "/initiate", body, idempotency_key)

    def get(self, id: str) -> Topup:
        return self._client.call("GET", _at(self._path, id))

    def wait_for(self, id: str, timeout_seconds: float = 120.0) -> Topup:
        """Returns when the top-up has ended: succeeded, failed or expired."""
        return self._wait(_at(self._path, id), lambda status: status != "pending", timeout_seconds, _ignore)


class _Notifications(_Resource):
    def list(self, filters: Optional[Filters] = None) -> Pages[Event]:
        return Pages(self._client, "/v1/notifications", filters)


class Payments:
    """The payments service, for one credential: an API key, an OAuth access token or a dashboard token."""

    def __init__(self, base_url: str, api_key: str, retries: int = 3, timeout_seconds: float = 30.0) -> None:
        if not api_key:
            raise ValueError("api_key is empty: set PAYMENTS_API_KEY, or the source of the key in your program.")
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self.retries = retries
        self.timeout_seconds = timeout_seconds
        self.account = _Account(self)
        self.workspaces = _Workspaces(self)
        self.credentials = _Credentials(self)
        self.api_keys = _ApiKeys(self)
        self.beneficiaries = _Beneficiaries(self)
        self.payments = _Payments(self)
        self.batches = _Batches(self)
        self.topups = _Topups(self)
        self.notifications = _Notifications(self)

    def call(
        self,
        method: str,
        path: str,
        body: Json = None,
        idempotency_key: Optional[str] = None,
        query: Optional[Filters] = None,
        accept: str = "application/json",
    ) -> Json:
        """One call of any route. A body that is a text is CSV. A POST without a key of yours gets one for all its attempts."""
        key = idempotency_key or (uuid.uuid4().hex if method == "POST" else None)
        sent = {} if body is None and method == "POST" else body
        data = sent if sent is None or isinstance(sent, str) else json.dumps(sent)
        headers = {
            "Authorization": "Bearer " + self.api_key,
            "Accept": accept,
            **({} if data is None else {"Content-Type": "text/csv; charset=utf-8" if isinstance(body, str) else "application/json"}),
            **({} if key is None else {"Idempotency-Key": key}),
        }
        url = self.base_url + path + _query(query)
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            wait = min(8.0, 0.25 * 2**attempt) * (0.5 + random.random() / 2)
            try:
                request = urllib.request.Request(url, None if data is None else data.encode(), headers, method=method)
                with urllib.request.urlopen(request, timeout=self.timeout_seconds) as answer:
                    text = answer.read().decode()
                    return text if accept == "text/csv" else json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                asked = _retry_after(error)
                # Only a limit of requests certainly stopped a PATCH (see below).
                again = _may_pass(error) and (method != "PATCH" or error.code == 429)
                if last or not again or (asked or 0.0) > LONGEST_WAIT_SECONDS:
                    raise _refusal(error, key) from None
                wait = wait if asked is None else asked
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                # A PATCH may carry a version: sent again after its answer was lost it would be refused although it took effect.
                if last or method == "PATCH":
                    raise NoAnswer(f"{error} ({self.base_url})", key) from error
            time.sleep(wait)
        raise AssertionError("every attempt returns or raises")

    def _newest_event_id(self) -> Optional[str]:
        newest = self.notifications.list({"limit": 1}).to_list(1)
        return newest[0]["id"] if newest else None

    def _oldest_event(self, types: Collection[str]) -> Optional[Event]:
        oldest = self.notifications.list({"after": "start", "type": list(types), "limit": 1}).to_list(1)
        return oldest[0] if oldest else None

    def events(
        self,
        last_event_id: Optional[str] = None,
        types: Collection[str] = (),
        on_open: Callable[[], None] = lambda: None,
    ) -> Iterator[Event]:
        """Events as they happen, each once and in order, over as many connections as needed. Store the last event's `id`, and give it after
        a restart. `types`: only these, such as `payment.*`. `stream.reset` means that events were lost: read what you keep again."""
        pause = 0.5
        seen: OrderedDict[str, None] = OrderedDict()
        headers = {"Authorization": "Bearer " + self.api_key, "Accept": "text/event-stream"}
        url = self.base_url + "/v1/notifications/stream" + _query({"type": list(types)})
        started = last_event_id is not None
        while True:
            try:
                # After the newest event: none is missed between here and the first connection, or before the first event.
                if not started:
                    last_event_id, started = self._newest_event_id(), True
                resumed = headers if last_event_id is None else {**headers, "Last-Event-ID": last_event_id}
                # The service sends a line at least every 25 seconds, so a longer silence is a lost connection.
                with urllib.request.urlopen(urllib.request.Request(url, headers=resumed), timeout=62.5) as answer:
                    pause = 0.5
                    # A stream resumes after an event: the first that it missed comes from the list, the others with the next connection.
                    missed = self._oldest_event(types) if last_event_id is None else None
                    if missed is None:
                        on_open()
                    for event in _events_of(answer) if missed is None else [missed]:
                        # Read before the program reads its resources again: what is newer than those is never lost with the connection.
                        last_event_id = event["id"] or self._newest_event_id()
                        if event["id"] is not None:
                            if event["id"] in seen:
                                continue
                            seen[event["id"]] = None
                            if len(seen) > 1000:
                                seen.popitem(last=False)
                        yield event
            except urllib.error.HTTPError as error:
                if not _may_pass(error):
                    raise _refusal(error) from None
            except PaymentsError as error:
                if error.status not in _PASSING:
                    raise
            except (OSError, http.client.HTTPException, NoAnswer):
                pass
            time.sleep(pause * (1 + random.random()))
            pause = min(15.0, pause * 2)
