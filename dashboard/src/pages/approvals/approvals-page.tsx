import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { approvalsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { cx } from '../../lib/class-names.ts'
import { railIcons } from '../../lib/rails.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty, PageHeader } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { type Choice, DecideDialog } from './decide-dialog.tsx'

type Approval = Schemas['Approval']

export const askerOf = (approval: Approval, people: (id: string) => string): string => {
  const { label, account_id: account } = approval.payment.initiated_by
  return label ?? people(account)
}

const rowId = (approval: Approval): string => `row-${approval.id}`

const ApprovalRow = ({ approval, asker }: { approval: Approval; asker: string }) => {
  const { payment } = approval
  const pending = approval.status === 'pending'
  return (
    <Link id={rowId(approval)} href={`/approvals/${approval.id}`} className="item">
      <span className={cx('avatar', pending && 'avatar-warn')}>
        <Icon name={railIcons[payment.beneficiary.payment_rail]} />
      </span>
      <span className="item-main">
        <span className="item-title">
          {payment.beneficiary.display_name}
          {payment.beneficiary.first_payment && <Badge tone="warn">First payment</Badge>}
        </span>
        <span className="item-note">
          Asked by {asker} ·{' '}
          {pending ? (
            <>
              <Countdown to={approval.expires_at} /> left
            </>
          ) : (
            <Time at={approval.created_at} />
          )}
        </span>
      </span>
      <span className="item-side">
        <span className="item-figures">
          <Amount minor={payment.amount_minor} currency={payment.currency} />
          {pending && (
            <>
              <br />
              <span className="faint small">
                {approval.approvals_given} of {approval.required_approvals}
              </span>
            </>
          )}
        </span>
        {!pending && (
          <span className="item-status">
            <StatusBadge status={approval.status} />
          </span>
        )}
      </span>
    </Link>
  )
}

const Rows = ({ approvals }: { approvals: readonly Approval[] }) => {
  const people = usePeople()
  return (
    <ul className="rows">
      {approvals.map((approval) => (
        <li key={approval.id}>
          <ApprovalRow approval={approval} asker={askerOf(approval, people)} />
        </li>
      ))}
    </ul>
  )
}

/** One after the other by keyboard: j and k move the focus itself, so that Enter opens and a screen reader follows; a and r decide. */
const useReview = (approvals: readonly Approval[], mayDecide: boolean) => {
  const [deciding, setDeciding] = useState<{ approval: Approval; choice: Choice } | null>(null)
  const focused = () => approvals.findIndex((approval) => rowId(approval) === document.activeElement?.id)
  const focus = (index: number) => {
    const approval = approvals[index]
    if (approval) document.getElementById(rowId(approval))?.focus()
  }
  const decide = (choice: Choice) => {
    const approval = approvals[focused()]
    if (approval && mayDecide) setDeciding({ approval, choice })
  }
  useShortcuts({
    j: () => focus(Math.min(focused() + 1, approvals.length - 1)),
    k: () => focus(Math.max(focused() - 1, 0)),
    a: () => decide('approve'),
    r: () => decide('reject'),
  })
  return { deciding, close: () => setDeciding(null) }
}

export const ApprovalsPage = () => {
  const { can } = useSession()
  const pending = useInfiniteQuery(approvalsQuery('pending'))
  const all = useInfiniteQuery(approvalsQuery(undefined))
  const waiting = pending.data?.pages.flatMap((page) => page.data) ?? []
  const { deciding, close } = useReview(waiting, can('approval.decide'))
  return (
    <div className="stack">
      <PageHeader title="Approvals" lead="Payments that a policy holds until somebody says yes." />
      <Card
        title="Waiting"
        actions={
          waiting.length > 0 && (
            <span className="faint small row row-tight keys-hint">
              <kbd>j</kbd>
              <kbd>k</kbd> move <kbd>a</kbd> approve <kbd>r</kbd> reject
            </span>
          )
        }
        flush
      >
        <Listing
          query={pending}
          rows={2}
          empty={
            <Empty icon="approvals" title="Nothing waits for a decision">
              A policy can hold payments from an amount on. <Link href="/policies">Look at the policies</Link>
            </Empty>
          }
        >
          {(approvals) => <Rows approvals={approvals} />}
        </Listing>
      </Card>
      <Card title="Decided" flush>
        <Listing query={all} rows={3} empty={<Empty icon="clock" title="No decision yet" />}>
          {(approvals) => {
            const decided = approvals.filter(({ status }) => status !== 'pending')
            return decided.length > 0 ? <Rows approvals={decided} /> : <Empty icon="clock" title="No decision yet" />
          }}
        </Listing>
      </Card>
      {deciding && <DecideDialog approval={deciding.approval} choice={deciding.choice} onClose={close} />}
    </div>
  )
}
