import { Link } from 'wouter'
import { Notice } from '../ui/layout.tsx'
import { useSession } from './session.tsx'

/** A freeze is shown on every page. */
export const FrozenBanner = () => {
  const { workspace, account, membership, can } = useSession()
  const notes = [
    account.status === 'frozen' && (
      <Notice key="account" tone="warn" title="This account is frozen">
        <p className="quiet">Nothing can be sent or changed. Contact support. Payments already sent still arrive.</p>
      </Notice>
    ),
    workspace.status === 'frozen' && (
      <Notice key="workspace" tone="info" title="This workspace is frozen">
        <p className="quiet">
          No payments or changes can be made. Payments already sent still arrive.{' '}
          {can('workspace.manage') && <Link href="/workspace">Unfreeze</Link>}
        </p>
      </Notice>
    ),
    membership.status === 'suspended' && (
      <Notice key="membership" tone="warn" title="Your membership here is suspended">
        <p className="quiet">An owner or administrator can reinstate you.</p>
      </Notice>
    ),
  ].filter(Boolean)
  return notes.length > 0 ? (
    <div className="stack-s" style={{ marginBottom: '20px' }}>
      {notes}
    </div>
  ) : null
}
