import type { OperationTexts } from '../../http/operation-text.ts'

export const paymentsOperations = {
  'beneficiaries.payments': {
    summary: "List a beneficiary's payments",
    text: 'What was paid to this beneficiary, newest first. Use it to see whether an invoice was already paid.',
  },
  'payments.create': {
    summary: 'Make a payment',
    text: 'Decides the payment by every policy, grant and mandate that applies, holds the amount and records it, in one transaction. The answer is `processing` (it is sent now), `pending_approval` (a person must approve it) or, with `execute_at`, `scheduled` (it is decided and sent at that time). Send an `Idempotency-Key`: after a lost answer the same request finds the same payment instead of paying twice. A refusal by a rule (403 `policy_denied`) contains the whole decision and the smallest change that would let the payment pass.',
  },
  'payments.list': {
    summary: 'List and search payments',
    text: 'The payments of the workspace, newest first, narrowed by any of the filters together. `q` looks in the payee, reference, narrative, receipt and id, and finds an amount as people write it. With `Accept: text/csv` everything that matches is streamed as CSV.',
  },
  'payments.summary': {
    summary: 'Add up payments',
    text: 'How many payments the filters of the list find, and what they add up to, by status.',
  },
  'payments.get': {
    summary: 'Read a payment',
    text: 'The source of truth for its state. `unknown`: it was sent, and the rail has not reported a result. The amount stays held. Do not pay again.',
  },
  'payments.receipt': {
    summary: 'Get the evidence for a payment',
    text: 'Everything that proves how the payment was made: the policies as they were, approvals with their signatures, the ledger transfers, the receipt of the rail and the seals of the audit log, under one digest. For auditors and disputes.',
  },
  'payment_batches.create': {
    summary: 'Make many payments with one approval',
    text: 'Checks every item first and creates all of them or none: the refusal names each item that cannot be paid in `details.items`. Limits count item by item, in one transaction with all holds. If any item needs an approval, the whole batch waits for one: the highest count that any item needs, and a text that binds every item by a Merkle root. Approved items are sent each by itself; one that no longer fits fails alone. At most 1,000 items. Each item is a payment: `GET /v1/payments?batch_id=`. An item names its payee by `beneficiary_id`, or by `display_name` and `destination`: then the beneficiary with this destination is paid, or a new one is created with the batch. The body may be CSV too (`Content-Type: text/csv`), as a spreadsheet saves it: the first row names the columns (the fields of an item, `metadata.<name>`, and `amount` in major units or `amount_minor`). `?dry_run=true` checks everything and creates nothing.',
    body: 'CreatePaymentBatch',
  },
  'payment_batches.list': {
    summary: 'List payment batches',
    text: 'The batches of the workspace, newest first, with how many of their items have each status.',
  },
  'payment_batches.get': {
    summary: 'Read a payment batch',
    text: 'One batch and the status of its items. It is `completed` when all items have ended and at least one was paid, `failed` when none was.',
  },
  'payment_batches.lines': {
    summary: 'Read all lines of a payment batch',
    text: 'Every item as the batch’s Merkle root binds it, with what its payee got the last time. Whoever approves a batch computes the root from these lines (RFC 6962 hashing over the UTF-8 of each `leaf`) and compares it with the one in the text that is signed. With `Accept: text/csv` it is the result file of the list: what became of each row, with its number in the file that was sent.',
  },
  'payment_batches.cancel': {
    summary: 'Cancel a batch that waits for its approval or its time',
    text: 'Cancels the batch with all of its payments and releases what was held. Once its payments are sent it cannot be cancelled (409).',
  },
  'payments.attention': {
    summary: 'Read what needs a person',
    text: 'A daily overview: what was spent on each of the last 30 days, and what of the last 24 hours a person should look at, the most urgent first: payments without a known outcome, payments that repeat, what was refused and to whom, payees whose number is registered under another name, and limits that are nearly used up. An administrator of the service also reads what waits in suspense. Approvals have a list of their own.',
  },
  'payment_refusals.list': {
    summary: 'List refused payments',
    text: 'Payments that were asked for and refused, newest first: by a spending rule, a freeze, a balance that is too low, or as a likely duplicate. Each names who asked, for whom, how much, and why. A key or an agent sees its own and those of the grants below it. Kept for 90 days; of one grant at most 1,000 in 24 hours are recorded.',
  },
  'payments.cancel': {
    summary: 'Cancel a payment that waits for its approval or its time',
    text: 'Cancels a payment that is scheduled or not approved yet and releases the held amount. Once it is processing it cannot be cancelled (409).',
  },
  'approvals.list': {
    summary: 'List approvals',
    text: 'Payments that wait for a decision, and those that were decided. `?status=pending` lists those that still need one.',
  },
  'approvals.get': {
    summary: 'Read an approval',
    text: 'The requested payments, their decisions, the messages to sign, and the context that a person needs to decide.',
  },
  'approvals.decide': {
    summary: 'Approve or reject a payment',
    text: 'Decides with a credential that has `approval.decide`. With separation of duties the initiator of the payment cannot decide. A credential of the lineage that initiated it never can. One rejection rejects the payment; the last approval that was needed sends it. The same decision again gives the same answer. `message_digest` names the text that was shown: where a name at the rail has changed since, there is another text, and the answer is 409, reason `message_changed`.',
  },
  'approvals.message': {
    summary: 'Get the message to sign',
    text: 'The canonical text to sign: readable, and written by the server. Sign it exactly as it is. While the first check of a payee’s name is under way, the answer waits up to five seconds for it. A name that changes while the approval waits makes a new text, and decisions on the old one are void. `status` says how it ended, not who decided.',
  },
  'approvals.decide_by_signature': {
    summary: 'Decide by the signature of a wallet',
    text: 'No credential is needed: the signature over the canonical message (EIP-191) is checked against the wallets that may decide. A contract wallet names its `address`.',
  },
  'admin.list_payments': {
    summary: 'Find payments that need a person',
    text: 'With `status=unknown`: those whose outcome the rail has not reported.',
  },
  'admin.resolve_payment': {
    summary: 'Resolve an unknown payment',
    text: 'With evidence from the provider that a person has read: posts the payment, or releases the hold. Without evidence leave it `unknown`.',
    body: 'ResolvePayment',
  },
} satisfies OperationTexts
