import { Route, Switch } from 'wouter'
import { AccountPage } from './pages/account/account-page.tsx'
import { NotificationsPage } from './pages/account/notifications-page.tsx'
import { AgentPage } from './pages/agents/agent-page.tsx'
import { AgentsPage } from './pages/agents/agents-page.tsx'
import { ApprovalPage } from './pages/approvals/approval-page.tsx'
import { ApprovalsPage } from './pages/approvals/approvals-page.tsx'
import { PublicApprovalPage } from './pages/approvals/public-approval-page.tsx'
import { BatchPage } from './pages/batches/batch-page.tsx'
import { BatchesPage } from './pages/batches/batches-page.tsx'
import { NewBatchPage } from './pages/batches/new-batch-page.tsx'
import { BeneficiariesPage } from './pages/beneficiaries/beneficiaries-page.tsx'
import { BeneficiaryPage } from './pages/beneficiaries/beneficiary-page.tsx'
import { NewBeneficiaryPage } from './pages/beneficiaries/new-beneficiary-page.tsx'
import { ConsentPage } from './pages/consent/consent-page.tsx'
import { DevicePage } from './pages/consent/device-page.tsx'
import { EventsPage } from './pages/developers/events-page.tsx'
import { KeysPage } from './pages/developers/keys-page.tsx'
import { NewKeyPage } from './pages/developers/new-key-page.tsx'
import { RequestsPage } from './pages/developers/requests-page.tsx'
import { HistoryPage } from './pages/history/history-page.tsx'
import { MandatePage } from './pages/mandates/mandate-page.tsx'
import { MandatesPage } from './pages/mandates/mandates-page.tsx'
import { NewMandatePage } from './pages/mandates/new-mandate-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { OverviewPage } from './pages/overview/overview-page.tsx'
import { NewPaymentPage } from './pages/payments/new-payment-page.tsx'
import { PaymentPage } from './pages/payments/payment-page.tsx'
import { PaymentsPage } from './pages/payments/payments-page.tsx'
import { ReceiptPage } from './pages/payments/receipt-page.tsx'
import { RefusedPage } from './pages/payments/refused-page.tsx'
import { PoliciesPage } from './pages/policies/policies-page.tsx'
import { NewPolicyPage, PolicyPage } from './pages/policies/policy-page.tsx'
import { ReconciliationPage } from './pages/reconciliation/reconciliation-page.tsx'
import { SignInPage } from './pages/sign-in/sign-in-page.tsx'
import { StatementPage } from './pages/statement/statement-page.tsx'
import { TopUpPage } from './pages/top-up/top-up-page.tsx'
import { TopUpStatusPage } from './pages/top-up/top-up-status-page.tsx'
import { ActivityPage } from './pages/workspace/activity-page.tsx'
import { InvitationPage } from './pages/workspace/invitation-page.tsx'
import { NewWorkspacePage } from './pages/workspace/new-workspace-page.tsx'
import { WorkspacePage } from './pages/workspace/workspace-page.tsx'
import { SignedIn } from './shell/session.tsx'
import { Shell } from './shell/shell.tsx'

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
    <Route path="/history/statement" component={StatementPage} />
    <Route path="/agents" component={AgentsPage} />
    <Route path="/agents/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
    <Route path="/developers" component={KeysPage} />
    <Route path="/developers/keys/new" component={NewKeyPage} />
    <Route path="/developers/keys/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
    <Route path="/developers/events" component={EventsPage} />
    <Route path="/developers/requests" component={RequestsPage} />
    <Route path="/reconciliation" component={ReconciliationPage} />
    <Route path="/account" component={AccountPage} />
    <Route path="/account/notifications" component={NotificationsPage} />
    <Route path="/workspace" component={WorkspacePage} />
    <Route path="/workspace/activity" component={ActivityPage} />
    <Route path="/workspace/new" component={NewWorkspacePage} />
    <Route component={NotFoundPage} />
  </Switch>
)

export const Pages = () => (
  <Switch>
    <Route path="/sign-in" component={SignInPage} />
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
