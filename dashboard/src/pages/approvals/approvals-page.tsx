import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { approvalsQuery, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { type Inbox, type InboxItem, useInbox } from '../../api/use-inbox.ts'
import { approvalSubject, type Choice, canApproveInBulk, factsToSee, subjectWords } from '../../lib/approval-subject.ts'
import { useShortcuts } from '../../lib/choices.ts'
import { cx } from '../../lib/class-names.ts'
import { rich, t } from '../../lib/language.ts'
import { requesterWords, shortMoney, sumMinor } from '../../lib/words.ts'
import { useOpenIn } from '../../shell/open-in.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Listing, LiveRows, Rows, SelectionBar, StaleNotice, useSelection } from '../../ui/listing.tsx'
import { Amount, Badge, Card, Countdown, Empty, Failure, Page, SkeletonRows, StatusBadge, Time } from '../../ui/page.tsx'
import { FrozenBadge } from '../agents/agents.tsx'
import { SeparateBalance, useSeparation } from '../overview/shared-balance.ts'
import { DecideDialog, SentAt } from './decide-dialog.tsx'
import { FactBadges } from './facts.tsx'

export const ApprovalsPage = () => {
  const inbox = useInbox()
  const waits = useSeparation()?.waits
  return (
    <Page title={t('approvals')} lead={t('inbox.lead')}>
      {waits && <SeparateBalance waits={waits} />}
      {(!waits || inbox.forMe.length > 0 || inbox.error !== null) && <ForMe {...inbox} />}
      {inbox.others.length > 0 && (
        <Card title={t('inbox.others')} flush>
          <InboxRows items={inbox.others} several={inbox.hasOtherWorkspaces} />
        </Card>
      )}
      <Decided />
    </Page>
  )
}

const InboxRows = ({ items, several, review }: { items: readonly InboxItem[]; several: boolean; review?: Review }) => {
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
            check={review && items.length > 1 && <RowCheckbox item={item} review={review} />}
          />
        </li>
      ))}
    </ul>
  )
}

const ForMe = ({ forMe: items, isPending, error, staleSince, hasOtherWorkspaces }: Inbox) => {
  const open = useOpenApproval(items)
  const review = useReview(
    items.map(({ approval }) => approval),
    open,
  )
  const keys = items.length > 0 && (
    <span className="faint small row row-tight keys-hint">
      {rich('inbox.keys', Object.fromEntries([...'jkxar'].map((key) => [key, <kbd key={key}>{key}</kbd>])))}
    </span>
  )
  return (
    <Card title={t('inbox.mine')} actions={keys} flush>
      {error ? (
        <div className="card-body">
          {staleSince !== null && <StaleNotice at={staleSince} />}
          <Failure error={error} />
        </div>
      ) : null}
      {isPending && items.length === 0 && <SkeletonRows rows={2} />}
      {!isPending && !error && items.length === 0 && (
        <Empty icon="check" title={t('inbox.empty')}>
          {rich('inbox.empty_note', { policies: <Link href="/policies">{t('policies')}</Link> })}
        </Empty>
      )}
      {items.length > 1 && <BulkBar review={review} items={items} />}
      {items.length > 0 && (
        <LiveRows>
          <InboxRows items={items} several={hasOtherWorkspaces} review={review} />
        </LiveRows>
      )}
      {review.deciding && (
        <DecideDialog
          approvals={review.deciding.approvals}
          choice={review.deciding.choice}
          isBlocked={(approval) => !canApproveInBulk(approval) || isStopped([approval])}
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
  const openIn = useOpenIn()
  return ({ id }: Pick<Schemas['Approval'], 'id'>) =>
    openIn(items.find(({ approval }) => approval.id === id)?.workspace.id ?? workspace.id, `/approvals/${id}`)
}

/** Selects an approval for a bulk decision. An approval that needs a closer look must be opened first. */
const RowCheckbox = ({ item: { approval }, review }: { item: InboxItem; review: Review }) => {
  const fits = canApproveInBulk(approval)
  const what = subjectWords(approval)
  return (
    <input
      type="checkbox"
      className="row-check"
      aria-label={t(fits ? 'select_what' : 'select_open_first', { what })}
      title={fits ? undefined : t('open_first')}
      disabled={!fits}
      checked={fits && review.selection.chosen.includes(approval.id)}
      onChange={() => review.selection.toggle(approval.id)}
    />
  )
}

const selectAllWords = (selectable: number, toOpenFirst: number): string => {
  if (toOpenFirst === 0) return t('select_all')
  const first = t('to_open_first', { count: toOpenFirst })
  return selectable === 0 ? first : t('select_others', { count: selectable, first })
}

const BulkBar = ({ review, items }: { review: Review; items: readonly InboxItem[] }) => {
  const { chosen, selectable } = review
  const toOpenFirst = items.length - selectable.length
  const sum = shortMoney(
    sumMinor(chosen.map((approval) => approvalSubject(approval).amountMinor)),
    items[0]?.workspace.currency ?? '',
  )
  return (
    <SelectionBar
      selection={review.selection}
      words={
        chosen.length === 0
          ? selectAllWords(selectable.length, toOpenFirst)
          : t('selected', { payments: t('payments', { count: chosen.length }), sum })
      }
    >
      {!isStopped(chosen) && (
        <Button size="small" variant="primary" onClick={() => review.decide('approve')}>
          {t('approve_count', { count: chosen.length })}
        </Button>
      )}
      <Button size="small" variant="danger" onClick={() => review.decide('reject')}>
        {t('reject_count', { count: chosen.length })}
      </Button>
    </SelectionBar>
  )
}

const isDecided = ({ status }: Approval): boolean => status !== 'pending'

const Decided = () => {
  const { workspace } = useSession()
  const people = usePeople()
  const all = approvalsQuery(undefined)
  // The newest may all be pending.
  const { hasNextPage } = useEvery(all, (approvals) => approvals.some(isDecided))
  const none = <Empty icon="clock" title={t('no_decisions')} />
  return (
    <Listing title={t('decided_in', { workspace: workspace.name })} query={all} rows={3} empty={none}>
      {(approvals) => {
        const decided = approvals.filter(isDecided)
        if (decided.length === 0) return hasNextPage ? <SkeletonRows rows={3} /> : none
        return (
          <Rows items={decided}>{(approval) => <InboxRow item={{ approval, workspace }} people={people} named={false} />}</Rows>
        )
      }}
    </Listing>
  )
}

type Props = {
  item: InboxItem
  people: (accountId: string) => string
  /** Whether the list has approvals of several workspaces, so that each row names its workspace. */
  named: boolean
  /** Previous row, which already shows the reason if it is the same. */
  above?: InboxItem | undefined
  check?: ReactNode
}

/** Reason for the approval, without the amount, which the row shows. */
const reasonOf = ({ approval }: InboxItem): string =>
  approvalSubject(approval).reason.replace(/, and [A-Z]{3}\s[\d,.]+ was requested/, '')

/** Shows enough to decide without opening: amount, beneficiary, purpose, requester, reason and age. */
const InboxRow = ({ item, people, named, above, check }: Props) => {
  const { approval, workspace } = item
  const openIn = useOpenIn()
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
          event.preventDefault()
          openIn(workspace.id, href)
        }}
      >
        <span className="item-main">
          <span className="item-title">
            {subject.title}
            <FactBadges facts={factsToSee(approval)} of={subject.count} />
            {pending && approval.approval_proof === 'signature' && <Badge dot={false}>{t('to_be_signed')}</Badge>}
            {named && <Badge dot={false}>{workspace.name}</Badge>}
          </span>
          <span className="block">{subject.purpose}</span>
          <SentAt at={subject.sentAt} />
          <span className="item-note block">
            {t('requested_by_whom', { who: requesterWords(subject.initiatedBy, people) })}{' '}
            <FrozenBadge by={subject.initiatedBy} /> · <Time at={approval.created_at} />
          </span>
          {pending && (!above || reasonOf(above) !== reasonOf(item)) && <span className="item-note block">{reasonOf(item)}</span>}
        </span>
        <span className="item-side inbox-side">
          <Amount minor={subject.amountMinor} currency={subject.currency} />
          {pending ? (
            <span className="faint small">
              {approval.required_approvals > 1 &&
                `${t('place', { at: approval.approvals_given, count: approval.required_approvals })} · `}
              <Countdown to={approval.expires_at} />
            </span>
          ) : (
            <StatusBadge status={approval.status} />
          )}
        </span>
      </Link>
    </div>
  )
}

type Approval = Schemas['Approval']

/** Whether any of the approvals can now only be rejected. */
const isStopped = (approvals: readonly Approval[]): boolean => approvals.some((approval) => approval.refusal_now)

export const rowId = ({ id }: Pick<Approval, 'id'>): string => `row-${id}`

type Deciding = { approvals: readonly Approval[]; choice: Choice; next: string | undefined }

/**
 * Reviews the inbox by keyboard. j and k move the focus itself, so Enter opens and a screen reader follows; x selects. a and r
 * decide the selected rows, or else the focused row. The focus then moves to the next row.
 */
export const useReview = (approvals: readonly Approval[], open: (approval: Approval) => void) => {
  const [deciding, setDeciding] = useState<Deciding | null>(null)
  const selectable = approvals.filter(canApproveInBulk)
  const selection = useSelection(selectable.map(({ id }) => id))
  const chosen = selectable.filter(({ id }) => selection.chosen.includes(id))
  const at = () => approvals.findIndex((approval) => document.activeElement?.closest('[data-row]')?.id === rowId(approval))
  const focusOn = (id: string | undefined) =>
    document.querySelector<HTMLElement>(`#${id === undefined ? 'none' : rowId({ id })} a`)?.focus()

  // Moves the focus after a decision: when the dialog has closed, and again when the decided rows are gone.
  const pendingFocus = useRef<{ on: string; decided: readonly string[] } | null>(null)
  const ids = approvals.map(({ id }) => id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the dialog closes, and when the rows change
  useEffect(() => {
    if (!pendingFocus.current || deciding) return
    const { on, decided } = pendingFocus.current
    focusOn(on)
    if (!approvals.some(({ id }) => decided.includes(id))) pendingFocus.current = null
  }, [deciding, ids])

  const currentOf = (approval: Approval) => approvals.find(({ id }) => id === approval.id) ?? approval
  const decide = (choice: Choice) => {
    const focused = approvals[at()]
    const about = chosen.length > 0 ? chosen : focused ? [focused] : []
    if (about.length === 0) return
    // Opens an approval that needs a closer look or a signature.
    const [only] = about
    if (choice === 'approve' && only && about.length === 1 && (!canApproveInBulk(only) || isStopped(about))) return open(only)
    if (choice === 'approve' && isStopped(about)) return
    const left = approvals.filter((approval) => !about.includes(approval))
    const next = left.find((approval) => approvals.indexOf(approval) > at()) ?? left.at(-1)
    setDeciding({ approvals: about, choice, next: next?.id })
  }
  useShortcuts({
    j: () => focusOn(approvals[Math.min(at() + 1, approvals.length - 1)]?.id),
    k: () => focusOn(approvals[Math.max(at() - 1, 0)]?.id),
    x: () => {
      const focused = approvals[at()]
      if (focused && canApproveInBulk(focused)) selection.toggle(focused.id)
    },
    a: () => decide('approve'),
    r: () => decide('reject'),
  })
  return {
    selection,
    chosen,
    selectable,
    decide,
    // Its texts may have changed since the dialog opened, and only the current ones can be decided.
    deciding: deciding && { ...deciding, approvals: deciding.approvals.map(currentOf) },
    close: () => setDeciding(null),
    decided: () => {
      if (deciding?.next) pendingFocus.current = { on: deciding.next, decided: deciding.approvals.map(({ id }) => id) }
      selection.clear()
      setDeciding(null)
    },
  }
}
