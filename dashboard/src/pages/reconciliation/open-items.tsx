import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { api, paymentQuery, topupQuery } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { parseMajor, shortMoney } from '../../lib/words.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton, CopyText } from '../../ui/copy.tsx'
import { fieldsOf, MoneyField, TextField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { ExactTime } from '../../ui/page.tsx'
import { AcceptDifferenceDialog, acceptLabel } from './end-payment.tsx'
import { isUnread, moneyOf, nameOfItem, titleOf } from './item-words.ts'
import { richRecon, tRecon } from './texts.ts'
import type { OpenItem } from './unknown.ts'

const Note = ({ children }: { children: ReactNode }) => <span className="item-note block">{children}</span>

/** Link to a payment of this workspace. For a payment of another workspace, a button copies its id. */
const PaymentLink = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...paymentQuery(id), retry: false })
  if (!data) return <CopyButton value={id}>{tRecon('copy_payment')}</CopyButton>
  return (
    <Link href={`/payments/${id}`}>
      {tRecon('to_payee', { amount: shortMoney(data.amount_minor, data.currency), name: data.beneficiary.display_name })}
    </Link>
  )
}

const TopUpLink = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...topupQuery(id), retry: false })
  if (!data) return <CopyButton value={id}>{tRecon('copy_topup')}</CopyButton>
  return <Link href={`/top-up/${id}`}>{tRecon('the_topup')}</Link>
}

const Subject = ({ item: { suspense, difference } }: { item: OpenItem }) => {
  const payment = suspense?.payment_id ?? difference?.payment_id
  const topup = suspense?.topup_id ?? difference?.topup_id
  if (payment) return <PaymentLink id={payment} />
  return topup ? <TopUpLink id={topup} /> : null
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
              dialog={(close) => <AcceptDifferenceDialog difference={difference} outcome={outcome} onClose={close} />}
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

/** Form for an amount that could not be read from the provider's message. */
const EnterAmount = ({ item, id, currency, onClose }: EnterProps) => {
  const { value, set } = useFields({ amount: '', receipt: '', note: '' })
  const asksReceipt = isUnread(item) && !item.suspense?.provider_receipt
  const receipt = value.receipt.trim()
  const minor = parseMajor(value.amount)
  const entering = useChange(
    () =>
      api.POST('/v1/admin/suspense/{id}/amount', {
        path: { id },
        body: { amount_minor: minor ?? '0', ...(asksReceipt && { provider_receipt: receipt }), note: value.note.trim() },
      }),
    {
      announcement: ({ outcome }) => tRecon(outcome === 'assigned' ? 'enter_amount.returned' : 'enter_amount.booked'),
      invalidates: ['suspense', 'trial balance', 'payments', 'payment'],
      onDone: onClose,
    },
  )
  const field = fieldsOf(value, set, entering.error)
  return (
    <FormDialog
      title={tRecon('enter_amount')}
      action={tRecon('enter_amount')}
      mutation={entering}
      ready={minor !== null && value.note.trim() !== '' && !(asksReceipt && receipt === '')}
      onClose={onClose}
    >
      <p className="muted">
        {titleOf(item)}: {moneyOf(item, currency)}. {tRecon('enter_amount.note')}
      </p>
      <MoneyField label={t('amount')} {...field('amount', 'amount_minor')} currency={currency} />
      {asksReceipt && <TextField label={tRecon('their_receipt')} {...field('receipt', 'provider_receipt')} maxLength={100} />}
      <TextField label={tRecon('found')} hint={tRecon('found.hint', { count: 1 })} {...field('note')} maxLength={500} />
    </FormDialog>
  )
}
