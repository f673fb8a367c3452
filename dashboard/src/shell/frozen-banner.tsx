import { Link } from 'wouter'
import { Notice } from '../ui/layout.tsx'
import { useSession } from './session.tsx'

/** What stops everything is said on every page. */
export const FrozenBanner = () => {
  const { workspace, account, membership } = useSession()
  const notes = [
    account.status === 'frozen' && (
      <Notice key="account" tone="warn" title="This account is frozen">
        <p className="quiet">Nothing can be sent or changed. Contact support; money that is under way still arrives.</p>
      </Notice>
    ),
    workspace.status === 'frozen' && (
      <Notice key="workspace" tone="info" title="This workspace is frozen">
        <p className="quiet">
          No payment can be made and nothing can be changed. Payments under way finish. <Link href="/workspace">Unfreeze it</Link>{' '}
          when all is well.
        </p>
      </Notice>
    ),
    membership.status === 'suspended' && (
      <Notice key="membership" tone="warn" title="Your membership here is suspended">
        <p className="quiet">An owner or an administrator of the workspace can reinstate you.</p>
      </Notice>
    ),
  ].filter(Boolean)
  return notes.length > 0 ? (
    <div className="stack-s" style={{ marginBottom: '20px' }}>
      {notes}
    </div>
  ) : null
}
