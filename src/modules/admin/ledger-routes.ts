import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { MinorOut } from '../../http/wire.ts'
import { type TrialBalanceLine, trialBalance } from '../../ledger/reports.ts'
import { formatMinor } from '../../lib/money.ts'
import type { Deps } from '../deps.ts'

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
    balanced: z.boolean().meta({ description: 'Debits equal credits, posted and pending alike.' }),
  })
  .meta({ id: 'TrialBalance' })
export type TrialBalance = z.output<typeof TrialBalance>

type Amounts = Omit<TrialBalanceLine, 'code' | 'kind'>

const presentSides = (amounts: Amounts) => ({
  debits_minor: formatMinor(amounts.debitsMinor),
  credits_minor: formatMinor(amounts.creditsMinor),
  pending_debits_minor: formatMinor(amounts.pendingDebitsMinor),
  pending_credits_minor: formatMinor(amounts.pendingCreditsMinor),
})

const sum = (lines: readonly Amounts[], name: keyof Amounts): bigint => lines.reduce((total, line) => total + line[name], 0n)

export const presentTrialBalance = (lines: readonly TrialBalanceLine[], currency: string): TrialBalance => {
  const totals = {
    debitsMinor: sum(lines, 'debitsMinor'),
    creditsMinor: sum(lines, 'creditsMinor'),
    pendingDebitsMinor: sum(lines, 'pendingDebitsMinor'),
    pendingCreditsMinor: sum(lines, 'pendingCreditsMinor'),
  }
  return {
    currency,
    lines: lines.map((line) => ({ account: line.code, ...presentSides(line) })),
    totals: presentSides(totals),
    balanced: totals.debitsMinor === totals.creditsMinor && totals.pendingDebitsMinor === totals.pendingCreditsMinor,
  }
}

export const registerAdminLedger = (app: App, deps: Deps): void => {
  app.get(
    '/v1/admin/ledger/trial-balance',
    { config: { operation: 'admin.trial_balance', access: 'admin' }, schema: { response: { 200: TrialBalance } } },
    async (_request, reply) => reply.send(presentTrialBalance(await trialBalance(deps.db), deps.config.CURRENCY)),
  )
}
