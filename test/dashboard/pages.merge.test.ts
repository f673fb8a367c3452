import { describe } from 'vitest'
import { chromiumPath } from './browser.ts'
import { accountFlows } from './flows/account.ts'
import { payrollFlows } from './flows/batches.ts'
import { beneficiaryFlows } from './flows/beneficiaries.ts'
import { developerFlows } from './flows/developers.ts'
import { languageFlows } from './flows/language.ts'
import { overviewFlows } from './flows/overview.ts'
import { statementFlows } from './flows/statements.ts'
import { workspaceFlows } from './flows/workspace.ts'
import { createWorld } from './world.ts'

/** Pages that move no money, and payrolls of a thousand rows. The pages that do are in `dashboard.test.ts`. */
describe.skipIf(!chromiumPath)('pages of the dashboard in a real browser', () => {
  const world = createWorld()
  describe('overview', () => overviewFlows(world))
  describe('account', () => accountFlows(world))
  describe('beneficiaries', () => beneficiaryFlows(world))
  describe('developers', () => developerFlows(world))
  describe('workspace', () => workspaceFlows(world))
  describe('statements', () => statementFlows(world))
  describe('another language', () => languageFlows(world))
  describe('payrolls', () => payrollFlows(world))
})
