import { collectionRail, depositRails } from '../../lib/rail-names.ts'
import type { OperationTexts } from '../types.ts'

export const moneyOperations: OperationTexts = {
  'accounts.get': {
    summary: 'Read your account',
    text: 'The balance, the capabilities and the sign-in methods of the account behind the credential. `available_minor` is what can be spent now; `held_minor` is reserved by payments under way.',
  },
  'accounts.update': {
    summary: 'Rename your account',
    text: 'Changes the name that other members see. The e-mail is not set here: it is always a verified e-mail of a linked identity.',
    body: 'UpdateAccount',
  },
  'accounts.close': {
    summary: 'Close your account',
    text: 'Closes the account for good. Only a person can, and only while nothing is held and the balance is 0: pay the rest out first. Every key, agent, session and sign-in method ends, its workspaces close to all members, and what waits for an approval or a date is cancelled. The e-mail, the names and the addresses of sessions are removed, and the destinations of its payees can be read by nobody. What was signed, receipts and the ledger are kept for as long as the law asks. A later sign-in begins a new account.',
  },
  'accounts.history': {
    summary: 'List the history of the balance',
    text: 'Every movement of the balance, from the ledger, newest first. The entries of a period add up to the change of the balance in that period. With `Accept: text/csv` everything that the filters match is streamed as CSV, for accounting.',
  },
  'accounts.statement': {
    summary: 'Read a statement of the account',
    text: 'For accounting: what was booked between two dates in the time zone of the workspace, oldest first, with the balances before and after, and sums by payee and by type. The opening balance of a statement is the closing balance of the one before. With `Accept: text/csv` it is whole, with amounts in major units and local dates.',
  },
  'workspaces.statement': {
    summary: 'Read a statement of the workspace',
    text: 'The payments of the workspace and what came back of them between two dates, oldest first, with sums by payee. The balances of the account that pays stand in its own statement.',
  },
  'accounts.history_summary': {
    summary: 'Add up the history by day',
    text: 'Money in and out for each day of the current workspace, oldest first: for a chart, without reading every entry.',
  },
  'request_log.list': {
    summary: 'Read the request log',
    text: 'Requests of this account in the last seven days that were refused, failed or changed something, by all of its credentials, newest first. Bodies and queries are not kept. A key or an agent sees its own and those of the grants below it. Entries appear within a second, and the last of them are lost when a process is killed. An account keeps the newest 10,000.',
  },
  'credentials.current': {
    summary: 'Read what this credential may do',
    text: 'The account, workspace, role, permissions and grant behind the credential, and its headroom: how much it can still pay, under the tightest limit of its grants and of the policies that apply to every payment. An agent calls this first, instead of learning its limits from refusals.',
  },
  'topups.initiate': {
    summary: 'Start a top-up',
    text: `${collectionRail} sends an M-PESA prompt to the phone; its owner confirms with the PIN. Whole shillings, 1 to 250,000. ${depositRails.join(' and ')} need no phone and no amount: \`instructions\` say where to pay in and under which number, and any amount that arrives with it is credited. The answer is \`pending\`: read the top-up again or follow the stream until the provider has answered. A deposit is waited for 7 days; a later one is credited too.`,
    body: 'InitiateTopup',
  },
  'topups.get': {
    summary: 'Read a top-up',
    text: 'The source of truth for the state of a top-up, also after a missed event. `expired` means that no answer came in time; a success that the provider proves later is still credited.',
  },
  'beneficiaries.create': {
    summary: 'Create a beneficiary',
    text: 'Stores a payee, once, before the first payment. The destination cannot be changed later, and no answer contains it: only its mask. `warnings` names others that have the same number.',
  },
  'beneficiaries.banks': {
    summary: 'List banks',
    text: 'The banks whose accounts PesaLink pays here, with the codes that `bank_code` takes. `1` and `01` are one code.',
  },
  'beneficiaries.list': {
    summary: 'List beneficiaries',
    text: 'The beneficiaries of the workspace, newest first. Archived ones are left out unless they are requested.',
  },
  'beneficiaries.get': {
    summary: 'Read a beneficiary',
    text: 'One beneficiary, archived ones included: past payments refer to it.',
  },
  'beneficiaries.update': {
    summary: 'Change or freeze a beneficiary',
    text: 'Corrects its names, or freezes payments to it with `{"status": "frozen"}` and allows them again with `active`. To pay another destination, archive this one and create another.',
  },
  'beneficiaries.confirm': {
    summary: 'Confirm a beneficiary',
    text: 'A person has checked who is paid: keys and agents may then pay it without asking. Needed for a beneficiary that a key or an agent created or renamed; approving a payment to it does the same. Doing it again gives the same answer.',
  },
  'beneficiaries.verify': {
    summary: "Check a beneficiary's name",
    text: 'Asks the rail again whose number it is. The answer comes later: `verification` changes, and the event `beneficiary.updated` reports it. Asked again within a minute of the last check, nothing happens. 503 `provider_not_configured` where the rail is not asked for names (`NAME_LOOKUPS`).',
  },
  'beneficiaries.archive': {
    summary: 'Archive a beneficiary',
    text: 'Ends its use permanently. Payments that were made stay as they are; new ones are refused. Doing it again gives the same answer.',
  },
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
    text: 'The payments of the workspace, newest first, narrowed by any of the filters together. `q` looks in the payee, reference, narrative, receipt and id. With `Accept: text/csv` everything that matches is streamed as CSV.',
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
    text: 'One batch and how its items stand. It is `completed` when all items have ended and at least one was paid, `failed` when none was.',
  },
  'payment_batches.lines': {
    summary: 'Read all lines of a payment batch',
    text: 'Every item as the batch’s Merkle root binds it, with what its payee got the last time. Whoever approves a batch computes the root from these lines (RFC 6962 hashing over the UTF-8 of each `leaf`) and compares it with the one in the text that is signed.',
  },
  'payment_batches.cancel': {
    summary: 'Cancel a batch that waits for its approval or its time',
    text: 'Cancels the batch with all of its payments and releases what was held. Once its payments are sent it cannot be cancelled (409).',
  },
  'payments.attention': {
    summary: 'Read what needs a person',
    text: 'The page for the morning: what was spent on each of the last 30 days, and what of the last 24 hours a person should look at, the most urgent first: payments without a known outcome, payments that repeat, what was refused and to whom, payees whose number is registered under another name, and limits that are nearly used up. An administrator of the service also reads what waits in suspense. Approvals have a list of their own.',
  },
  'payment_refusals.list': {
    summary: 'List refused payments',
    text: 'Payments that were asked for and refused, newest first: by a spending rule, a freeze, a balance that is too low, or as a likely duplicate. Each names who asked, for whom, how much, and why. A key or an agent sees its own and those of the grants below it. Kept for 90 days; of one grant at most 1,000 in 24 hours are recorded.',
  },
  'payments.cancel': {
    summary: 'Cancel a payment that waits for its approval or its time',
    text: 'Cancels a payment that is scheduled or not approved yet and releases the held amount. Once it is processing it cannot be cancelled (409).',
  },
}
