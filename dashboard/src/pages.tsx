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
import { laterPage } from './ui/later.tsx'
import { EmptyCard, Page } from './ui/page.tsx'

const ReconciliationPage = laterPage(
  async () => (await import('./pages/reconciliation/reconciliation-page.tsx')).ReconciliationPage,
)
const UnknownPaymentsPage = laterPage(async () => (await import('./pages/reconciliation/unknown-page.tsx')).UnknownPaymentsPage)
const MandatesPage = laterPage(async () => (await import('./pages/mandates/mandates-page.tsx')).MandatesPage)
const MandatePage = laterPage(async () => (await import('./pages/mandates/mandates-page.tsx')).MandatePage)
const NewMandatePage = laterPage(async () => (await import('./pages/mandates/mandates-page.tsx')).NewMandatePage)
const ConfirmedPage = laterPage(async () => (await import('./pages/sign-in/confirmed-page.tsx')).ConfirmedPage)
const AgentPage = laterPage(async () => (await import('./pages/developers/grant-page.tsx')).AgentPage)
const AgentsPage = laterPage(async () => (await import('./pages/agents/agents-page.tsx')).AgentsPage)
const NewKeyPage = laterPage(async () => (await import('./pages/developers/new-key-page.tsx')).NewKeyPage)
const ActivityPage = laterPage(async () => (await import('./pages/workspace/activity-page.tsx')).ActivityPage)
const EventsPage = laterPage(async () => (await import('./pages/developers/events-page.tsx')).EventsPage)
const RequestsPage = laterPage(async () => (await import('./pages/developers/requests-page.tsx')).RequestsPage)
const TopUpPage = laterPage(async () => (await import('./pages/top-up/top-up-page.tsx')).TopUpPage)
const TopUpStatusPage = laterPage(async () => (await import('./pages/top-up/top-up-page.tsx')).TopUpStatusPage)
const NewPolicyPage = laterPage(async () => (await import('./pages/policies/policy-page.tsx')).NewPolicyPage)
const PolicyPage = laterPage(async () => (await import('./pages/policies/policy-page.tsx')).PolicyPage)
const WorkspacePage = laterPage(async () => (await import('./pages/workspace/workspace-page.tsx')).WorkspacePage)
const NewWorkspacePage = laterPage(async () => (await import('./pages/workspace/new-workspace-page.tsx')).NewWorkspacePage)
const BatchesPage = laterPage(async () => (await import('./pages/batches/batches-page.tsx')).BatchesPage)
const NewBatchPage = laterPage(async () => (await import('./pages/batches/new-batch-page.tsx')).NewBatchPage)
const BatchPage = laterPage(async () => (await import('./pages/batches/batch-page.tsx')).BatchPage)
const AccountPage = laterPage(async () => (await import('./pages/account/account-page.tsx')).AccountPage)
const ConsentPage = laterPage(async () => (await import('./pages/consent/consent.tsx')).ConsentPage)
const DevicePage = laterPage(async () => (await import('./pages/consent/device-page.tsx')).DevicePage)
const KeysPage = laterPage(async () => (await import('./pages/developers/keys-page.tsx')).KeysPage)
const HistoryPage = laterPage(async () => (await import('./pages/history/history-page.tsx')).HistoryPage)
const InvitationPage = laterPage(async () => (await import('./pages/workspace/invitation-page.tsx')).InvitationPage)
const NewBeneficiaryPage = laterPage(
  async () => (await import('./pages/beneficiaries/new-beneficiary-page.tsx')).NewBeneficiaryPage,
)
const BeneficiariesPage = laterPage(async () => (await import('./pages/beneficiaries/beneficiaries-page.tsx')).BeneficiariesPage)
const BeneficiaryPage = laterPage(async () => (await import('./pages/beneficiaries/beneficiary-page.tsx')).BeneficiaryPage)
const NewPaymentPage = laterPage(async () => (await import('./pages/payments/new-payment-page.tsx')).NewPaymentPage)
const RefusedPage = laterPage(async () => (await import('./pages/payments/refused-page.tsx')).RefusedPage)
const PoliciesPage = laterPage(async () => (await import('./pages/policies/policy-page.tsx')).PoliciesPage)
const SpendingPage = laterPage(async () => (await import('./pages/spending/spending-page.tsx')).SpendingPage)
const StatementPage = laterPage(async () => (await import('./pages/statement/statement-page.tsx')).StatementPage)
const PublicApprovalPage = laterPage(async () => (await import('./pages/approvals/public-approval-page.tsx')).PublicApprovalPage)
const PaymentPage = laterPage(async () => (await import('./pages/payments/payment-page.tsx')).PaymentPage)
const PaymentsPage = laterPage(async () => (await import('./pages/payments/payments-page.tsx')).PaymentsPage)
const ReceiptPage = laterPage(async () => (await import('./pages/payments/receipt-page.tsx')).ReceiptPage)

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
    <Route path="/agents/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
    <Route path="/developers" component={KeysPage} />
    <Route path="/developers/keys/new" component={NewKeyPage} />
    <Route path="/developers/keys/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
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
