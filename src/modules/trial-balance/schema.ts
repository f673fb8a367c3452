import { z } from 'zod'
import { MinorOut } from '../../http/wire.ts'

const Sides = z.object({
  debits_minor: MinorOut,
  credits_minor: MinorOut,
  pending_debits_minor: MinorOut,
  pending_credits_minor: MinorOut,
})

export const TrialBalance = z
  .object({
    currency: z.string(),
    lines: z.array(
      Sides.extend({ account: z.string().meta({ description: 'A system account, or `customers`: all of them together.' }) }),
    ),
    totals: Sides,
    balanced: z.boolean().meta({ description: 'Debits equal credits, for posted and for pending amounts.' }),
  })
  .meta({ id: 'TrialBalance' })
export type TrialBalance = z.output<typeof TrialBalance>
