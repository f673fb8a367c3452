import type { ReceiptKeys } from '../../auth/receipt-keys.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../lib/clock.ts'

/** What proofs need: `app.ts` builds each part once. */
export type Deps = { config: Config; db: Database; clock: Clock; receiptKeys: ReceiptKeys }
