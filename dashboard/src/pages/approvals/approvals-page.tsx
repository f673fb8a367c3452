import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { approvalsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { type Inbox, type InboxItem, useInbox } from '../../api/use-inbox.ts'
import { usePeople } from '../../api/use-people.ts'
import { fitsBulk } from '../../lib/approval-cautions.ts'
import { approvalSubject, subjectWords } from '../../lib/approval-subject.ts'
import { capitalized, countWords } from '../../lib/list-words.ts'
import { shortMoney, sumMinor } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Empty, Page, SkeletonRows } from '../../ui/layout.tsx'
import { Listing, LiveRows, OldList, Rows } from '../../ui/listing.tsx'
import { SelectionBar } from '../../ui/selection.tsx'
import { DecideDialog } from './decide-dialog.tsx'
import { InboxRow } from './inbox-row.tsx'
import { useReview } from './use-review.ts'

export const ApprovalsPage = () => {
  const inbox = useInbox()
  return (
    <Page title="Approvals" lead="Payments that need a decision before they are sent, from all your workspaces.">
      <ForMe {...inbox} />
      {inbox.others.length > 0 && (
        <Card title="Waiting for someone else" flush>
          <InboxRows items={inbox.others} several={inbox.several} />
        </Card>
      )}
      <Decided />
    </Page>
  )
}

type RowsProps = { items: readonly InboxItem[]; several: boolean; review?: Review }

const InboxRows = ({ items, several, review }: RowsProps) => {
  const people = usePeople([...new Set(items.map(({ workspace }) => workspace.id))])
  return (
    <ul className="rows">
      {items.map((item, index) => (
        <li key={item.approval.id}>
          <InboxRow
            item={item}
            above={items[index - 1]}
            people={people}
            named={several}
            check={review && items.length > 1 && <Tick item={item} review={review} />}
          />
        </li>
      ))}
    </ul>
  )
}

const ForMe = ({ forMe: items, isPending, error, oldSince, several }: Inbox) => {
  const open = useOpenApproval(items)
  const review = useReview(
    items.map(({ approval }) => approval),
    open,
  )
  const keys = items.length > 0 && (
    <span className="faint small row row-tight keys-hint">
      <kbd>j</kbd> <kbd>k</kbd> move <kbd>x</kbd> select <kbd>a</kbd> approve <kbd>r</kbd> reject
    </span>
  )
  return (
    <Card title="Waiting for you" actions={keys} flush>
      {error ? (
        <div className="card-body">
          {oldSince !== null && <OldList at={oldSince} />}
          <Failure error={error} />
        </div>
      ) : null}
      {isPending && items.length === 0 && <SkeletonRows rows={2} />}
      {!isPending && !error && items.length === 0 && (
        <Empty icon="check" title="You’re all caught up">
          New requests appear here as they arrive. <Link href="/policies">Policies</Link> decide which payments need approval.
        </Empty>
      )}
      {items.length > 1 && <Bar review={review} items={items} />}
      {items.length > 0 && (
        <LiveRows>
          <InboxRows items={items} several={several} review={review} />
        </LiveRows>
      )}
      {review.deciding && (
        <DecideDialog
          approvals={review.deciding.approvals}
          choice={review.deciding.choice}
          onDecided={review.decided}
          onClose={review.close}
        />
      )}
    </Card>
  )
}

type Review = ReturnType<typeof useReview>

const useOpenApproval = (items: readonly InboxItem[]) => {
  const { workspace } = useSession()
  const switchTo = useSwitchWorkspace()
  const [, navigate] = useLocation()
  return ({ id }: Pick<Schemas['Approval'], 'id'>) => {
    const there = items.find(({ approval }) => approval.id === id)?.workspace.id ?? workspace.id
    if (there === workspace.id) navigate(`/approvals/${id}`)
    else switchTo(there, `/approvals/${id}`)
  }
}

/** One with a caution cannot be ticked before it was opened. */
const Tick = ({ item: { approval }, review }: { item: InboxItem; review: Review }) => {
  const fits = fitsBulk(approval)
  const label = `Select ${subjectWords(approval)}`
  return (
    <input
      type="checkbox"
      className="row-check"
      aria-label={fits ? label : `${label}: open it first`}
      title={fits ? undefined : 'Open it first'}
      disabled={!fits}
      checked={fits && review.selection.chosen.includes(approval.id)}
      onChange={() => review.selection.toggle(approval.id)}
    />
  )
}

const selectAllWords = (ticked: number, apart: number): string => {
  if (apart === 0) return 'Select all'
  const first = `${countWords(apart, 'payment')} to open first`
  return ticked === 0 ? capitalized(first) : `Select the other ${ticked}. ${first}`
}

const Bar = ({ review, items }: { review: Review; items: readonly InboxItem[] }) => {
  const { chosen, ticked } = review
  const apart = items.length - ticked.length
  const sum = shortMoney(
    sumMinor(chosen.map((approval) => approvalSubject(approval).amountMinor)),
    items[0]?.workspace.currency ?? '',
  )
  return (
    <SelectionBar
      selection={review.selection}
      words={
        chosen.length === 0 ? selectAllWords(ticked.length, apart) : `${countWords(chosen.length, 'payment')} selected, ${sum}`
      }
    >
      <Button size="small" variant="primary" onClick={() => review.decide('approve')}>
        Approve {chosen.length}
      </Button>
      <Button size="small" variant="danger" onClick={() => review.decide('reject')}>
        Reject {chosen.length}
      </Button>
    </SelectionBar>
  )
}

const Decided = () => {
  const { workspace } = useSession()
  const people = usePeople()
  const all = useInfiniteQuery(approvalsQuery(undefined))
  const none = <Empty icon="clock" title="No decisions yet" />
  return (
    <Card title={`Decided in ${workspace.name}`} flush>
      <Listing query={all} rows={3} empty={none}>
        {(approvals) => {
          const decided = approvals.filter(({ status }) => status !== 'pending')
          if (decided.length === 0) return none
          return (
            <Rows items={decided}>{(approval) => <InboxRow item={{ approval, workspace }} people={people} named={false} />}</Rows>
          )
        }}
      </Listing>
    </Card>
  )
}
