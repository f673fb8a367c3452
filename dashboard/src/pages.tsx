import { type ComponentType, lazy, Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { ApprovalPage } from './pages/approvals/approval-page.tsx'
import { ApprovalsPage } from './pages/approvals/approvals-page.tsx'
import { PublicApprovalPage } from './pages/approvals/public-approval-page.tsx'
import { OverviewPage } from './pages/overview/overview-page.tsx'
import { PaymentPage } from './pages/payments/payment-page.tsx'
import { PaymentsPage } from './pages/payments/payments-page.tsx'
import { SignInPage } from './pages/sign-in/sign-in-page.tsx'
import { confirmedPath } from './shell/paths.ts'
import { SignedIn } from './shell/session.tsx'
import { Shell } from './shell/shell.tsx'
import { LinkButton } from './ui/button.tsx'
import { EmptyCard, Page, SkeletonCard } from './ui/page.tsx'

/** A page that is opened seldom is loaded when it is: the script that every page begins with stays small. */
const later = <Props,>(load: () => Promise<ComponentType<Props>>) => lazy(async () => ({ default: await load() }))

const ReconciliationPage = later(async () => (await import('./pages/reconciliation/reconciliation-page.tsx')).ReconciliationPage)
const UnknownPaymentsPage = later(async () => (await import('./pages/reconciliation/unknown-page.tsx')).UnknownPaymentsPage)
const MandatesPage = later(async () => (await import('./pages/mandates/mandates-page.tsx')).MandatesPage)
const MandatePage = later(async () => (await import('./pages/mandates/mandates-page.tsx')).MandatePage)
const NewMandatePage = later(async () => (await import('./pages/mandates/mandates-page.tsx')).NewMandatePage)
const ConfirmedPage = later(async () => (await import('./pages/sign-in/confirmed-page.tsx')).ConfirmedPage)
const AgentPage = later(async () => (await import('./pages/developers/grant-page.tsx')).AgentPage)
const AgentsPage = later(async () => (await import('./pages/agents/agents-page.tsx')).AgentsPage)
const NewKeyPage = later(async () => (await import('./pages/developers/new-key-page.tsx')).NewKeyPage)
const ActivityPage = later(async () => (await import('./pages/workspace/activity-page.tsx')).ActivityPage)
const EventsPage = later(async () => (await import('./pages/developers/events-page.tsx')).EventsPage)
const RequestsPage = later(async () => (await import('./pages/developers/requests-page.tsx')).RequestsPage)
const TopUpPage = later(async () => (await import('./pages/top-up/top-up-page.tsx')).TopUpPage)
const TopUpStatusPage = later(async () => (await import('./pages/top-up/top-up-page.tsx')).TopUpStatusPage)
const NewPolicyPage = later(async () => (await import('./pages/policies/policy-page.tsx')).NewPolicyPage)
const PolicyPage = later(async () => (await import('./pages/policies/policy-page.tsx')).PolicyPage)
const WorkspacePage = later(async () => (await import('./pages/workspace/workspace-page.tsx')).WorkspacePage)
const NewWorkspacePage = later(async () => (await import('./pages/workspace/new-workspace-page.tsx')).NewWorkspacePage)
const BatchesPage = later(async () => (await import('./pages/batches/batches-page.tsx')).BatchesPage)
const NewBatchPage = later(async () => (await import('./pages/batches/new-batch-page.tsx')).NewBatchPage)
const BatchPage = later(async () => (await import('./pages/batches/batches-page.tsx')).BatchPage)
const AccountPage = later(async () => (await import('./pages/account/account-page.tsx')).AccountPage)
const ConsentPage = later(async () => (await import('./pages/consent/consent.tsx')).ConsentPage)
const DevicePage = later(async () => (await import('./pages/consent/device-page.tsx')).DevicePage)
const KeysPage = later(async () => (await import('./pages/developers/keys-page.tsx')).KeysPage)
const HistoryPage = later(async () => (await import('./pages/history/history-page.tsx')).HistoryPage)
const InvitationPage = later(async () => (await import('./pages/workspace/invitation-page.tsx')).InvitationPage)
const NewBeneficiaryPage = later(async () => (await import('./pages/beneficiaries/new-beneficiary-page.tsx')).NewBeneficiaryPage)
const BeneficiariesPage = later(async () => (await import('./pages/beneficiaries/beneficiaries-page.tsx')).BeneficiariesPage)
const BeneficiaryPage = later(async () => (await import('./pages/beneficiaries/beneficiary-page.tsx')).BeneficiaryPage)
const NewPaymentPage = later(async () => (await import('./pages/payments/new-payment-page.tsx')).NewPaymentPage)
const RefusedPage = later(async () => (await import('./pages/payments/refused-page.tsx')).RefusedPage)
const PoliciesPage = later(async () => (await import('./pages/policies/policy-page.tsx')).PoliciesPage)
const TryPage = later(async () => (await import('./pages/developers/try-page.tsx')).TryPage)
const SpendingPage = later(async () => (await import('./pages/spending/spending-page.tsx')).SpendingPage)
const StatementPage = later(async () => (await import('./pages/statement/statement-page.tsx')).StatementPage)
const ReceiptPage = later(async () => (await import('./pages/payments/receipt-page.tsx')).ReceiptPage)

const Arriving = () => <SkeletonCard rows={4} />

/** Every address inside the shell; the service lists their first parts (src/http/dashboard.ts). */
const Inside = () => (
  <Switch>
    <Route path="/" component={OverviewPage} />
    <Route path="/payments" component={PaymentsPage} />
    <Route path="/payments/new" component={NewPaymentPage} />
    <Route path="/payments/batches" component={BatchesPage} />
    <Route path="/payments/batches/new" component={NewBatchPage} />
    <Route path="/payments/batches/:id">{({ id }) => <BatchPage key={id} id={id} />}</Route>
    <Route path="/payments/refused" component={RefusedPage} />
    <Route path="/payments/:id">{({ id }) => <PaymentPage key={id} id={id} />}</Route>
    <Route path="/payments/:id/receipt">{({ id }) => <ReceiptPage id={id} />}</Route>
    <Route path="/approvals" component={ApprovalsPage} />
    <Route path="/approvals/:id">{({ id }) => <ApprovalPage key={id} id={id} />}</Route>
    <Route path="/beneficiaries" component={BeneficiariesPage} />
    <Route path="/beneficiaries/new" component={NewBeneficiaryPage} />
    <Route path="/beneficiaries/:id">{({ id }) => <BeneficiaryPage key={id} id={id} />}</Route>
    <Route path="/policies" component={PoliciesPage} />
    <Route path="/policies/new" component={NewPolicyPage} />
    <Route path="/policies/:id">{({ id }) => <PolicyPage key={id} id={id} />}</Route>
    <Route path="/mandates" component={MandatesPage} />
    <Route path="/mandates/new" component={NewMandatePage} />
    <Route path="/mandates/:id">{({ id }) => <MandatePage key={id} id={id} />}</Route>
    <Route path="/top-up" component={TopUpPage} />
    <Route path="/top-up/:id">{({ id }) => <TopUpStatusPage key={id} id={id} />}</Route>
    <Route path="/history" component={HistoryPage} />
    <Route path="/statements" component={StatementPage} />
    <Route path="/spending" component={SpendingPage} />
    <Route path="/agents" component={AgentsPage} />
    <Route path="/agents/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
    <Route path="/developers" component={KeysPage} />
    <Route path="/developers/keys/new" component={NewKeyPage} />
    <Route path="/developers/keys/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
    <Route path="/developers/events" component={EventsPage} />
    <Route path="/developers/requests" component={RequestsPage} />
    <Route path="/developers/try" component={TryPage} />
    <Route path="/reconciliation" component={ReconciliationPage} />
    <Route path="/reconciliation/unknown" component={UnknownPaymentsPage} />
    <Route path="/account" component={AccountPage} />
    <Route path="/workspace" component={WorkspacePage} />
    <Route path="/workspace/activity" component={ActivityPage} />
    <Route path="/workspace/new" component={NewWorkspacePage} />
    <Route component={NotFoundPage} />
  </Switch>
)

export const Pages = () => (
  <Suspense fallback={<Arriving />}>
    <Switch>
      <Route path="/sign-in" component={SignInPage} />
      <Route path={confirmedPath} component={ConfirmedPage} />
      <Route path="/approve/:id">{({ id }) => <PublicApprovalPage id={id} />}</Route>
      <Route path="/consent">
        <SignedIn>
          <ConsentPage />
        </SignedIn>
      </Route>
      <Route path="/device">
        <SignedIn>
          <DevicePage />
        </SignedIn>
      </Route>
      <Route path="/invitation" component={InvitationPage} />
      <Route>
        <SignedIn>
          <Shell>
            <Suspense fallback={<Arriving />}>
              <Inside />
            </Suspense>
          </Shell>
        </SignedIn>
      </Route>
    </Switch>
  </Suspense>
)

export const NotFoundPage = () => (
  <Page title="Page not found">
    <EmptyCard icon="search" title="Nothing here" actions={<LinkButton href="/">Go to overview</LinkButton>}>
      The address may be wrong, or the page may have been removed.
    </EmptyCard>
  </Page>
)
