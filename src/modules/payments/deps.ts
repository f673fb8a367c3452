import type { Logger } from 'pino'
import type { ContractWallets } from '../../auth/contract-wallet.ts'
import type { OrderNames } from '../../auth/order-names.ts'
import type { ReceiptKeys } from '../../auth/receipt-keys.ts'
import type { Derivations, Vault } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import type { Database, Tx } from '../../db/client.ts'
import type { Reads } from '../../db/standby.ts'
import type { Witness } from '../../db/witness.ts'
import type { Cursors } from '../../http/pagination.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SendJournal } from '../../lib/send-journal.ts'
import type { Rails } from '../../rails/rail.ts'
import type { Alerts } from '../alerts.ts'
import type { PaymentMandates } from '../mandates/for-payments.ts'
import type { Push } from '../push/send.ts'
import type { ChainAnswers } from './evaluation/contract-wallets.ts'
import type { PaymentApprovals, Refusals, SubmitBatch, SubmitPayment } from './request.ts'

/** What payments need: `app.ts` builds each part once. */
export type Deps = {
  config: Config
  db: Database
  reads: Reads
  clock: Clock
  logger: Logger
  vault: Vault
  derivations: Derivations
  orderNames: OrderNames
  receiptKeys: ReceiptKeys
  witness: Witness
  sends: SendJournal | undefined
  contractWallets: ContractWallets
  cursors: Cursors
  jobs: Jobs
  rails: Rails
  alerts: Alerts
  push: Push | null
  submitPayment: SubmitPayment
  submitBatch: SubmitBatch
  refusals: Refusals
  approvals: PaymentApprovals
  mandates: PaymentMandates
  /** Called in the transaction that sends: approvals refused by the chains of their contract wallets count no more. */
  onApprovalsRefused: (tx: Tx, answers: ChainAnswers) => Promise<unknown>
}
