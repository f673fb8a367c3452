import { Route, Switch } from 'wouter'
import { t } from './lib/language.ts'
import { ApprovalPage } from './pages/approvals/approval-page.tsx'
import { ApprovalsPage } from './pages/approvals/approvals-page.tsx'
import { OverviewPage } from './pages/overview/overview-page.tsx'
import { SignInPage } from './pages/sign-in/sign-in-page.tsx'
import { confirmedPath } from './shell/paths.ts'
import { SignedIn } from './shell/session.tsx'
import { Shell } from './shell/shell.tsx'
import { LinkButton } from './ui/button.tsx'
import { lazyPage } from './ui/lazy.tsx'
import { EmptyCard, Page } from './ui/page.tsx'

const ReconciliationPage = lazyPage(
  async () => (await import('./pages/reconciliation/reconciliation-page.tsx')).ReconciliationPage,
)
const UnknownPaymentsPage = lazyPage(async () => (await import('./pages/reconciliation/unknown-page.tsx')).UnknownPaymentsPage)
const MandatesPage = lazyPage(async () => (await import('./pages/mandates/mandates-page.tsx')).MandatesPage)
const MandatePage = lazyPage(async () => (await import('./pages/mandates/mandates-page.tsx')).MandatePage)
const NewMandatePage = lazyPage(async () => (await import('./pages/mandates/mandates-page.tsx')).NewMandatePage)
const ConfirmedPage = lazyPage(async () => (await import('./pages/sign-in/confirmed-page.tsx')).ConfirmedPage)
const GrantPage = lazyPage(async () => (await import('./pages/developers/grant-page.tsx')).GrantPage)
const AgentsPage = lazyPage(async () => (await import('./pages/agents/agents-page.tsx')).AgentsPage)
const NewKeyPage = lazyPage(async () => (await import('./pages/developers/new-key-page.tsx')).NewKeyPage)
const ActivityPage = lazyPage(async () => (await import('./pages/workspace/activity-page.tsx')).ActivityPage)
const EventsPage = lazyPage(async () => (await import('./pages/developers/events-page.tsx')).EventsPage)
const RequestsPage = lazyPage(async () => (await import('./pages/developers/requests-page.tsx')).RequestsPage)
const TopUpPage = lazyPage(async () => (await import('./pages/top-up/top-up-page.tsx')).TopUpPage)
const TopUpStatusPage = lazyPage(async () => (await import('./pages/top-up/top-up-page.tsx')).TopUpStatusPage)
const NewPolicyPage = lazyPage(async () => (await import('./pages/policies/policy-page.tsx')).NewPolicyPage)
const PolicyPage = lazyPage(async () => (await import('./pages/policies/policy-page.tsx')).PolicyPage)
const WorkspacePage = lazyPage(async () => (await import('./pages/workspace/workspace-page.tsx')).WorkspacePage)
const NewWorkspacePage = lazyPage(async () => (await import('./pages/workspace/new-workspace-page.tsx')).NewWorkspacePage)
const BatchesPage = lazyPage(async () => (await import('./pages/batches/batches-page.tsx')).BatchesPage)
const NewBatchPage = lazyPage(async () => (await import('./pages/batches/new-batch-page.tsx')).NewBatchPage)
const BatchPage = lazyPage(async () => (await import('./pages/batches/batch-page.tsx')).BatchPage)
const AccountPage = lazyPage(async () => (await import('./pages/account/account-page.tsx')).AccountPage)
const ConsentPage = lazyPage(async () => (await import('./pages/consent/consent.tsx')).ConsentPage)
const DevicePage = lazyPage(async () => (await import('./pages/consent/device-page.tsx')).DevicePage)
const KeysPage = lazyPage(async () => (await import('./pages/developers/keys-page.tsx')).KeysPage)
const HistoryPage = lazyPage(async () => (await import('./pages/history/history-page.tsx')).HistoryPage)
const InvitationPage = lazyPage(async () => (await import('./pages/workspace/invitation-page.tsx')).InvitationPage)
const NewBeneficiaryPage = lazyPage(
  async () => (await import('./pages/beneficiaries/new-beneficiary-page.tsx')).NewBeneficiaryPage,
)
const BeneficiariesPage = lazyPage(async () => (await import('./pages/beneficiaries/beneficiaries-page.tsx')).BeneficiariesPage)
const BeneficiaryPage = lazyPage(async () => (await import('./pages/beneficiaries/beneficiary-page.tsx')).BeneficiaryPage)
const NewPaymentPage = lazyPage(async () => (await import('./pages/payments/new-payment-page.tsx')).NewPaymentPage)
const RefusedPage = lazyPage(async () => (await import('./pages/payments/refused-page.tsx')).RefusedPage)
const PoliciesPage = lazyPage(async () => (await import('./pages/policies/policy-page.tsx')).PoliciesPage)
const SpendingPage = lazyPage(async () => (await import('./pages/spending/spending-page.tsx')).SpendingPage)
const StatementPage = lazyPage(async () => (await import('./pages/statement/statement-page.tsx')).StatementPage)
const PublicApprovalPage = lazyPage(async () => (await import('./pages/approvals/public-approval-page.tsx')).PublicApprovalPage)
const PaymentPage = lazyPage(async () => (await import('./pages/payments/payment-page.tsx')).PaymentPage)
const PaymentsPage = lazyPage(async () => (await import('./pages/payments/payments-page.tsx')).PaymentsPage)
const ReceiptPage = lazyPage(async () => (await import('./pages/payments/receipt-page.tsx')).ReceiptPage)

/** All paths inside the shell. The service lists their first segments (src/http/dashboard.ts). */
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
    <Route path="/agents/:id">{({ id }) => <GrantPage key={id} id={id} />}</Route>
    <Route path="/developers" component={KeysPage} />
    <Route path="/developers/keys/new" component={NewKeyPage} />
    <Route path="/developers/keys/:id">{({ id }) => <GrantPage key={id} id={id} />}</Route>
    <Route path="/developers/events" component={EventsPage} />
    <Route path="/developers/requests" component={RequestsPage} />
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
          <Inside />
        </Shell>
      </SignedIn>
    </Route>
  </Switch>
)

export const NotFoundPage = () => (
  <Page title={t('not_found')}>
    <EmptyCard icon="search" title={t('not_found.title')} actions={<LinkButton href="/">{t('go_to_overview')}</LinkButton>}>
      {t('not_found.note')}
    </EmptyCard>
  </Page>
)
