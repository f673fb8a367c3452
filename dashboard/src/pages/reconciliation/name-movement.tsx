import { useInfiniteQuery } from '@tanstack/react-query'
import { providers } from '../../../../src/lib/rail-names.ts'
import { providerLabel } from '../../../../src/rails/texts.ts'
import { api, movementsQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { fromLocalInput, localInput, now } from '../../lib/time.ts'
import { moneyText, parseMajor } from '../../lib/words.ts'
import { fieldsOf, MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { ExactTime } from '../../ui/page.tsx'
import { tRecon } from './texts.ts'

type Movement = Schemas['NameMovement']
type MovementType = 'to_bank' | 'from_bank' | 'settlement' | 'charges'

const kinds: Readonly<Record<MovementType, Pick<Movement, 'kind' | 'direction'>>> = {
  to_bank: { kind: 'bank_transfer', direction: 'out' },
  from_bank: { kind: 'bank_transfer', direction: 'in' },
  settlement: { kind: 'settlement', direction: 'out' },
  charges: { kind: 'charges', direction: 'out' },
}

const choices = (Object.keys(kinds) as MovementType[]).map((value) => ({ value, label: tRecon(`move.${value}`) }))
const providerOptions = providers.map((value) => ({ value, label: providerLabel(value) }))

export const RecordMovement = ({ currency }: { currency: string }) => (
  <DialogButton dialog={(close) => <RecordDialog currency={currency} onClose={close} />}>{tRecon('move.act')}</DialogButton>
)

const labelOf = ({ kind, direction }: Pick<Movement, 'kind' | 'direction'>): string =>
  tRecon(`move.${kind === 'bank_transfer' ? (direction === 'in' ? 'from_bank' : 'to_bank') : kind}`)

/** Movements that administrators have already recorded. */
export const Movements = ({ currency }: { currency: string }) => {
  const movements = useInfiniteQuery(movementsQuery)
  if (!movements.isError && rowsOf(movements).length === 0) return null
  return (
    <List title={tRecon('move.listed')} note={tRecon('move.listed.note')} query={movementsQuery} empty={null}>
      {({ provider, amount_minor: amount, provider_receipt: receipt, ...movement }) => (
        <Item
          title={`${labelOf(movement)}, ${moneyText(amount, currency)}`}
          note={
            <>
              {[providerLabel(provider), receipt, movement.note].filter(Boolean).join(', ')}, <ExactTime at={movement.moved_at} />
              , {tRecon(movement.reconciliation_id ? 'move.counted' : 'move.waits')}
            </>
          }
        />
      )}
    </List>
  )
}

/** Records a movement of the organisation's own money at a provider, so that later comparisons expect it. */
const RecordDialog = ({ currency, onClose }: { currency: string; onClose: () => void }) => {
  const { value, set } = useFields<{
    provider: Movement['provider']
    what: MovementType
    amount: string
    at: string
    receipt: string
    note: string
  }>({
    ...{ provider: providers[0], what: 'to_bank', amount: '', receipt: '', note: '' },
    at: localInput(new Date(now())),
  })
  const minor = parseMajor(value.amount)
  const movedAt = fromLocalInput(value.at)
  const recording = useChange(
    (keyed) => {
      const { provider, what, receipt } = value
      const body = {
        ...{ provider, ...kinds[what], amount_minor: minor ?? '0', note: value.note.trim() },
        moved_at: movedAt?.toISOString() ?? '',
        ...(receipt.trim() && { provider_receipt: receipt.trim() }),
      }
      return api.POST('/v1/admin/provider-movements', keyed(body))
    },
    {
      announcement: ({ reconciliation_id: known }) => tRecon(known ? 'move.explains' : 'move.expected'),
      invalidates: ['differences', 'reconciliations', 'movements'],
      onDone: onClose,
    },
  )
  const field = fieldsOf(value, set, recording.error)
  const ready = minor !== null && value.note.trim() !== '' && movedAt !== null
  return (
    <FormDialog title={tRecon('move.title')} action={tRecon('move.it')} mutation={recording} ready={ready} onClose={onClose}>
      <p className="muted">{tRecon('move.note')}</p>
      <SelectField label={tRecon('move.provider')} {...field('provider')} options={providerOptions} />
      <SelectField label={tRecon('move.what')} {...field('what', 'direction')} options={choices} />
      <MoneyField label={t('amount')} {...field('amount', 'amount_minor')} currency={currency} />
      <TextField label={t('when')} type="datetime-local" {...field('at', 'moved_at')} />
      <TextField label={tRecon('their_receipt')} optional {...field('receipt', 'provider_receipt')} maxLength={100} mono />
      <TextField label={tRecon('move.note_field')} hint={tRecon('move.saved')} {...field('note')} maxLength={500} />
    </FormDialog>
  )
}
