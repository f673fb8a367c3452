import { describe } from 'vitest'
import { chromiumPath } from './browser.ts'
import { anotherDayFlows } from './flows/another-day.ts'
import { approvalLinkFlows } from './flows/approval-link.ts'
import { approvalFlows } from './flows/approvals.ts'
import { batchFlows } from './flows/batches.ts'
import { consentFlows } from './flows/consent.ts'
import { mandateFlows } from './flows/mandates.ts'
import { passkeyFlows } from './flows/passkeys.ts'
import { paymentFlows } from './flows/payments.ts'
import { policyFlows } from './flows/policies.ts'
import { providerFlows } from './flows/providers.ts'
import { receiptFlows } from './flows/receipts.ts'
import { reconciliationFlows } from './flows/reconciliation.ts'
import { signInFlows } from './flows/sign-in.ts'
import { statementOutcomeFlows } from './flows/statement-outcome.ts'
import { theftFlows } from './flows/theft.ts'
import { topUpFlows } from './flows/top-up.ts'
import { createWorld } from './world.ts'

describe.skipIf(!chromiumPath)('the dashboard in a real browser', () => {
  const world = createWorld()
  describe('sign-in by a provider', () => providerFlows(world))
  describe('sign-in', () => signInFlows(world))
  describe('theft', () => theftFlows(world))
  describe('payments', () => paymentFlows(world))
  describe('payment batches', () => batchFlows(world))
  describe('approvals', () => approvalFlows(world))
  describe('approvals by link', () => approvalLinkFlows(world))
  describe('passkeys', () => passkeyFlows(world))
  describe('policies', () => policyFlows(world))
  describe('mandates', () => mandateFlows(world))
  describe('top-up', () => topUpFlows(world))
  describe('consent', () => consentFlows(world))
  describe('reconciliation', () => reconciliationFlows(createWorld({ beside: world })))
  describe('receipts', () => receiptFlows(world))
  describe('while hours and days pass', () => {
    const other = createWorld({ beside: world })
    describe('outcomes by a statement', () => statementOutcomeFlows(other))
    describe('approvals', () => anotherDayFlows(other))
  })
})
