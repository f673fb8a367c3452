import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { presenter } from '../../http/presenter.ts'
import { routesOf } from '../../http/routes.ts'
import { MinorOut, RecordOut } from '../../http/wire.ts'
import { type TrialBalanceLine, totalsOf, trialBalance } from '../../ledger/reports.ts'
import type { Parts } from '../parts.ts'

const Sides = z.object({
  debits_minor: MinorOut,
  credits_minor: MinorOut,
  pending_debits_minor: MinorOut,
  pending_credits_minor: MinorOut,
})

const TrialBalance = RecordOut('TrialBalance', {
  currency: z.string(),
  lines: z.array(
    Sides.extend({ account: z.string().describe('A system account, or `customers` for all customer accounts together.') }),
  ),
  totals: Sides,
  balanced: z.boolean().describe('Whether debits equal credits, for both posted and pending amounts.'),
})

const shown = presenter(Sides)

export const presentTrialBalance = (lines: readonly TrialBalanceLine[], currency: string): z.output<typeof TrialBalance> => {
  const totals = totalsOf(lines)
  return {
    currency,
    lines: lines.map((line) => ({ account: line.code, ...shown(line) })),
    totals: shown(totals),
    balanced: totals.debitsMinor === totals.creditsMinor && totals.pendingDebitsMinor === totals.pendingCreditsMinor,
  }
}

export const registerAdminLedger = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  routes.get('/v1/admin/ledger/trial-balance', 'admin.trial_balance', {
    summary: 'Retrieve the trial balance',
    description: 'Returns every ledger account with its debits and credits. Total debits equal total credits.',
    response: { 200: TrialBalance },
    read: async () => presentTrialBalance(await trialBalance(deps.db), deps.config.CURRENCY),
  })
}
