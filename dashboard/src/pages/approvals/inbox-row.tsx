import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { InboxItem } from '../../api/use-inbox.ts'
import { cautionsOf, cautionWords, isAnotherName, isOtherName } from '../../lib/approval-cautions.ts'
import { approvalSubject } from '../../lib/approval-subject.ts'
import { cx } from '../../lib/class-names.ts'
import { requesterWords } from '../../lib/requester.ts'
import { useSession } from '../../shell/session.tsx'
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts'
import { Amount } from '../../ui/amount.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { FrozenBadge } from '../agents/freeze-agent.tsx'
import { rowId } from './use-review.ts'

type Props = {
  item: InboxItem
  people: (accountId: string) => string
  /** Several workspaces are in the list: each row names its own. */
  named: boolean
  /** The row above it, which has said why it needs approval where the reason is the same. */
  above?: InboxItem | undefined
  check?: ReactNode
}

/** The rule, without the amount that the row shows. */
const reasonOf = ({ approval }: InboxItem): string =>
  approvalSubject(approval).reason.replace(/, and [A-Z]{3}\s[\d,.]+ was requested/, '')

/** Enough to decide without opening it: amount, beneficiary, purpose, requester, reason and age. */
export const InboxRow = ({ item, people, named, above, check }: Props) => {
  const { approval, workspace } = item
  const current = useSession().workspace
  const switchTo = useSwitchWorkspace()
  const subject = approvalSubject(approval)
  const href = `/approvals/${approval.id}`
  const pending = approval.status === 'pending'
  return (
    <div className={cx('item inbox-row', check ? 'inbox-row-check' : null)} id={rowId(approval)} data-row>
      {check}
      <Link
        href={href}
        className="inbox-link"
        onClick={(event) => {
          if (workspace.id === current.id) return
          event.preventDefault()
          switchTo(workspace.id, href)
        }}
      >
        <span className="item-main">
          <span className="item-title">
            {subject.title}
            {cautionsOf(approval).map((caution) => (
              <Badge key={caution.code} tone={isAnotherName(caution) ? 'bad' : 'warn'}>
                {cautionWords(caution, subject.amountMinor)}
              </Badge>
            ))}
            {isOtherName(approval) && !cautionsOf(approval).some(isAnotherName) && <Badge tone="bad">Another name</Badge>}
            {pending && approval.approval_proof === 'signature' && <Badge dot={false}>To be signed</Badge>}
            {named && <Badge dot={false}>{workspace.name}</Badge>}
          </span>
          <span className="block">{subject.purpose}</span>
          <span className="item-note block">
            Requested by {requesterWords(subject.initiatedBy, people)} <FrozenBadge by={subject.initiatedBy} /> ·{' '}
            <Time at={approval.created_at} />
          </span>
          {pending && (!above || reasonOf(above) !== reasonOf(item)) && <span className="item-note block">{reasonOf(item)}</span>}
        </span>
        <span className="item-side inbox-side">
          <Amount minor={subject.amountMinor} currency={subject.currency} />
          {pending ? (
            <span className="faint small">
              {approval.required_approvals > 1 && `${approval.approvals_given} of ${approval.required_approvals} · `}
              <Countdown to={approval.expires_at} suffix=" left" />
            </span>
          ) : (
            <StatusBadge status={approval.status} />
          )}
        </span>
      </Link>
    </div>
  )
}
