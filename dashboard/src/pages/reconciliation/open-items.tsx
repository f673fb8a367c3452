import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { ApiError, messageOf } from '../../api/error.ts'
import { api, paymentQuery, type Schemas, topupQuery } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { parseMajor, shortMoney } from '../../lib/words.ts'
import { Button, CopyButton, CopyText } from '../../ui/button.tsx'
import { fieldsOf, MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { ExactTime, fieldError, Notice } from '../../ui/page.tsx'
import { AcceptOutcome, acceptLabel } from './end-payment.tsx'
import { canBeAssigned, isUnread, moneyOf, nameOfItem, titleOf } from './item-words.ts'
import { richRecon, tRecon } from './texts.ts'
import type { OpenItem } from './unknown.ts'

const Note = ({ children }: { children: ReactNode }) => <span className="item-note block">{children}</span>

/** Link to a payment of this workspace. A payment of another workspace has only its id. */
const PaymentOf = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...paymentQuery(id), retry: false })
  if (!data) return <CopyButton value={id}>{tRecon('copy_payment')}</CopyButton>
  return (
    <Link href={`/payments/${id}`}>
      {tRecon('to_payee', { amount: shortMoney(data.amount_minor, data.currency), name: data.beneficiary.display_name })}
    </Link>
  )
}

const TopUpOf = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...topupQuery(id), retry: false })
  if (!data) return <CopyButton value={id}>{tRecon('copy_topup')}</CopyButton>
  return <Link href={`/top-up/${id}`}>{tRecon('the_topup')}</Link>
}

const Subject = ({ item: { suspense, difference } }: { item: OpenItem }) => {
  const payment = suspense?.payment_id ?? difference?.payment_id
  const topup = suspense?.topup_id ?? difference?.topup_id
  if (payment) return <PaymentOf id={payment} />
  return topup ? <TopUpOf id={topup} /> : null
}

type Props = { item: OpenItem; currency: string; checked: boolean; onCheck: () => void; onResolve: () => void }

export const ItemRow = ({ item, currency, checked, onCheck, onResolve }: Props) => {
  const { suspense, difference } = item
  const title = titleOf(item)
  const outcome = difference?.offered_outcome ?? null
  return (
    <li>
      <div className="item">
        <input
          type="checkbox"
          className="row-check"
          aria-label={tRecon('select', { name: nameOfItem(item) })}
          checked={checked}
          onChange={onCheck}
        />
        <span className="item-main">
          {title}
          {difference && <Note>{difference.action}</Note>}
          {suspense && isUnread(item) && (
            <Note>
              {richRecon('reason.unread.show', {
                command: <CopyText value={`npm run admin -- suspense show ${suspense.id}`} label={tRecon('the_command')} />,
              })}
            </Note>
          )}
          <Note>{moneyOf(item, currency)}</Note>
          {suspense?.proposal && (
            <Note>
              {richRecon('proposal', {
                who: <bdi>{suspense.proposal.by}</bdi>,
                outcome: tRecon(`outcome.${suspense.proposal.outcome}`),
              })}
            </Note>
          )}
          <Note>
            <Subject item={item} />
          </Note>
          <Note>
            <ExactTime at={(suspense ?? difference)?.created_at ?? ''} />
          </Note>
        </span>
        <span className="item-acts">
          {difference && outcome && (
            <DialogButton
              variant="primary"
              label={`${acceptLabel(outcome)}: ${title}`}
              dialog={(close) => <AcceptOutcome difference={difference} outcome={outcome} onClose={close} />}
            >
              {acceptLabel(outcome)}
            </DialogButton>
          )}
          {suspense?.amount_minor === null && !suspense.booked && (
            <DialogButton
              label={`${tRecon('enter_amount')}: ${nameOfItem(item)}`}
              dialog={(close) => <EnterAmount item={item} id={suspense.id} currency={currency} onClose={close} />}
            >
              {tRecon('enter_amount')}
            </DialogButton>
          )}
          <Button onClick={onResolve} label={tRecon('resolve_what', { name: nameOfItem(item) })}>
            {tRecon('resolve')}
          </Button>
        </span>
      </div>
    </li>
  )
}

type EnterProps = { item: OpenItem; id: string; currency: string; onClose: () => void }

/** Enters an amount that the provider did not state readably. */
const EnterAmount = ({ item, id, currency, onClose }: EnterProps) => {
  const { value, set } = useFields({ amount: '', note: '' })
  const minor = parseMajor(value.amount)
  const entering = useChange(
    () =>
      api.POST('/v1/admin/suspense/{id}/amount', {
        path: { id },
        body: { amount_minor: minor ?? '0', note: value.note.trim() },
      }),
    {
      announcement: ({ outcome }) => tRecon(outcome === 'assigned' ? 'enter_amount.returned' : 'enter_amount.booked'),
      outdates: ['suspense', 'trial balance', 'payments', 'payment'],
      onDone: onClose,
    },
  )
  const field = fieldsOf(value, set, entering.error)
  return (
    <FormDialog
      title={tRecon('enter_amount')}
      action={tRecon('enter_amount')}
      mutation={entering}
      ready={minor !== null && value.note.trim() !== ''}
      onClose={onClose}
    >
      <p className="quiet">
        {titleOf(item)}: {moneyOf(item, currency)}. {tRecon('enter_amount.note')}
      </p>
      <MoneyField label={t('amount')} {...field('amount', 'amount_minor')} currency={currency} />
      <TextField label={tRecon('found')} hint={tRecon('found.hint', { count: 1 })} {...field('note')} maxLength={500} />
    </FormDialog>
  )
}

type Outcome = Schemas['ResolveSuspense']['outcome'] | 'assigned'

const choiceOf = (value: Outcome) => ({ value, label: tRecon(`choice.${value}`) })
const outcomes = (['explained', 'adjusted', 'reversed'] as const).map(choiceOf)

/** Largest number of items in one request. */
export const maxAtOnce = 100

/** Id of the item that a refusal names. */
const refusedId = (error: unknown): string | null =>
  error instanceof ApiError && typeof error.details.id === 'string' ? error.details.id : null

const isAbout =
  (id: string | null) =>
  ({ suspense, difference }: OpenItem): boolean =>
    id !== null && (suspense?.id === id || difference?.id === id)

/** `receiver`: id of the account, workspace or top-up that gets the money. */
type Decision = { chosen: readonly OpenItem[]; outcome: Outcome; note: string; receiver: string }

const receivers = ['account_id', 'workspace_id', 'topup_id']

const endSuspense = async (ids: string[], { outcome, note, receiver }: Decision): Promise<Schemas['SuspenseItem'][]> => {
  if (outcome !== 'assigned') return (await api.POST('/v1/admin/suspense/resolve', { body: { ids, outcome, note } })).data
  const receiverField = receiver.startsWith('top_') ? 'topup_id' : receiver.startsWith('wsp_') ? 'workspace_id' : 'account_id'
  const to = { [receiverField]: receiver }
  return Promise.all(ids.map((id) => api.POST('/v1/admin/suspense/{id}/assign', { path: { id }, body: { ...to, note } })))
}

/** Resolves all suspense money or none, then all differences or none. Each item gets an entry in the audit log. */
const useResolve = (onDone: () => void) => {
  const [resolvedKeys, setResolvedKeys] = useState<ReadonlySet<string>>(new Set())
  const resolving = useChange(
    async (_, decision: Decision) => {
      const { chosen, note } = decision
      const suspense = chosen.flatMap((item) => (item.suspense && !resolvedKeys.has(item.key) ? [item.suspense.id] : []))
      const differences = chosen.flatMap(({ difference }) => (difference ? [difference.id] : []))
      let waiting = 0
      if (suspense.length > 0) {
        const ended = await endSuspense(suspense, decision)
        waiting = ended.filter(({ resolved_at }) => resolved_at === null).length
        // After a refusal of the second request, another try covers the differences alone.
        setResolvedKeys(new Set([...resolvedKeys, ...chosen.flatMap((item) => (item.suspense ? [item.key] : []))]))
      }
      if (differences.length > 0)
        await api.POST('/v1/admin/reconciliation-differences/resolve', { body: { ids: differences, note } })
      return { waiting, count: chosen.length }
    },
    {
      announcement: ({ waiting, count }) =>
        waiting > 0 ? tRecon('resolve_waits', { count: waiting }) : tRecon('resolved', { count }),
      outdates: ['suspense', 'differences', 'trial balance'],
      onDone,
    },
  )
  return { ...resolving, isPartlyDone: resolvedKeys.size > 0 }
}

type ResolveProps = { items: readonly OpenItem[]; currency: string; onClose: () => void }

/** Resolves all chosen items with one reason. */
export const Resolve = ({ items: chosen, currency, onClose }: ResolveProps) => {
  // Keeps the items chosen at opening: the lists behind lose resolved items.
  const [items, setItems] = useState(chosen)
  const [note, setNote] = useState('')
  const [outcome, setOutcome] = useState<Outcome>('explained')
  const [receiver, setReceiver] = useState('')
  const resolve = useResolve(onClose)
  const [only] = items
  const several = items.length > 1
  const refused = items.find(isAbout(refusedId(resolve.error)))
  const offered = !several && only && canBeAssigned(only) ? [...outcomes, choiceOf('assigned')] : outcomes
  const isAssigned = outcome === 'assigned'
  return (
    <FormDialog
      title={tRecon('resolve.ask', { count: items.length })}
      action={several ? tRecon('resolve_count', { count: items.length }) : tRecon('resolve')}
      mutation={{
        ...resolve,
        error: several && refused ? null : resolve.error,
        mutate: () => resolve.mutate({ chosen: items, outcome, note: note.trim(), receiver: receiver.trim() }),
      }}
      ready={note.trim() !== '' && (!isAssigned || receiver.trim() !== '')}
      onClose={onClose}
    >
      <ul className="stack-xs small quiet">
        {items.map((item) => (
          <li key={item.key}>
            {titleOf(item)}: {moneyOf(item, currency)}
          </li>
        ))}
      </ul>
      {!several && only?.difference && <p className="quiet">{only.difference.action}</p>}
      {items.some(({ suspense }) => suspense) && (
        <SelectField label={tRecon('what_happened')} value={outcome} onChange={setOutcome} options={offered} />
      )}
      {isAssigned && (
        <TextField
          label={tRecon('receiver')}
          hint={tRecon('receiver.hint')}
          error={receivers.map((name) => fieldError(resolve.error, name)).find((problem) => problem !== undefined)}
          value={receiver}
          onChange={setReceiver}
          maxLength={60}
          mono
        />
      )}
      <TextField
        label={tRecon('found')}
        hint={tRecon('found.hint', { count: items.length })}
        value={note}
        onChange={setNote}
        maxLength={500}
      />
      {several && refused && (
        <Notice tone="bad" title={tRecon(resolve.isPartlyDone ? 'differences_stayed' : 'none_resolved')} live>
          <p className="quiet">
            {nameOfItem(refused)}: {messageOf(resolve.error)}
          </p>
          <Button
            size="small"
            onClick={() => {
              setItems(items.filter((item) => item !== refused))
              resolve.reset()
            }}
          >
            {tRecon('leave_out')}
          </Button>
        </Notice>
      )}
    </FormDialog>
  )
}
