import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import { trialBalance } from '../../ledger/reports.ts'
import type { Deps } from './deps.ts'
import { presentTrialBalance } from './present.ts'
import { TrialBalance } from './schema.ts'

export const registerAdminLedger = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/admin/ledger/trial-balance', {
    config: { operation: 'admin.trial_balance', access: 'admin' },
    schema: {
      summary: 'Read the trial balance',
      description: 'Every ledger account with its debits and credits, which are equal in total.',
      response: { 200: TrialBalance },
    },
    read: async () => presentTrialBalance(await trialBalance(deps.db), deps.config.CURRENCY),
  })
}
