import { providers } from '../../../../src/lib/rail-names.ts'
import { providerLabel } from '../../../../src/rails/texts.ts'
import { api, type Schemas } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { fromLocalInput, localInput, now } from '../../lib/time.ts'
import { parseMajor } from '../../lib/words.ts'
import { fieldsOf, MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'

type Named = Schemas['NameMovement']
type What = 'to_bank' | 'from_bank' | 'settlement' | 'charges'

const choices: readonly { value: What; label: string }[] = [
  { value: 'to_bank', label: 'A transfer to our bank' },
  { value: 'from_bank', label: 'A transfer from our bank' },
  { value: 'settlement', label: 'The provider settled its charges' },
  { value: 'charges', label: 'A charge taken from the money itself' },
]

const kinds: Readonly<Record<What, Pick<Named, 'kind' | 'direction'>>> = {
  to_bank: { kind: 'bank_transfer', direction: 'out' },
  from_bank: { kind: 'bank_transfer', direction: 'in' },
  settlement: { kind: 'settlement', direction: 'out' },
  charges: { kind: 'charges', direction: 'out' },
}

const providerOptions = providers.map((value) => ({ value, label: providerLabel(value) }))

export const NameMovement = ({ currency }: { currency: string }) => (
  <DialogButton dialog={(close) => <NameDialog currency={currency} onClose={close} />}>Name a movement</DialogButton>
)

/** Of the organisation's own money at a provider: no payment of anybody. Comparisons expect it from then on. */
const NameDialog = ({ currency, onClose }: { currency: string; onClose: () => void }) => {
  const { value, set } = useFields<{
    provider: Named['provider']
    what: What
    amount: string
    at: string
    receipt: string
    note: string
  }>({
    ...{ provider: providers[0], what: 'to_bank', amount: '', receipt: '', note: '' },
    at: localInput(new Date(now())),
  })
  const minor = parseMajor(value.amount)
  const naming = useChange(
    (keyed) => {
      const { provider, what, receipt } = value
      const body = {
        ...{ provider, ...kinds[what], amount_minor: minor ?? '0', note: value.note.trim() },
        moved_at: fromLocalInput(value.at).toISOString(),
        ...(receipt.trim() && { provider_receipt: receipt.trim() }),
      }
      return api.POST('/v1/admin/provider-movements', keyed(body))
    },
    {
      announcement: ({ reconciliation_id: known }) =>
        known ? 'Named: it explains a difference' : 'Named: the next comparison expects it',
      outdates: ['differences', 'reconciliations'],
      onDone: onClose,
    },
  )
  const field = fieldsOf(value, set, naming.error)
  const ready = minor !== null && value.note.trim() !== '' && value.at !== ''
  return (
    <FormDialog title="Name a movement of our own money" action="Name it" making={naming} ready={ready} onClose={onClose}>
      <p className="quiet">Nothing is booked. Comparisons of balances, and statements that list its receipt, agree with it.</p>
      <SelectField label="Provider" {...field('provider')} options={providerOptions} />
      <SelectField label="What moved" {...field('what', 'direction')} options={choices} />
      <MoneyField label="Amount" {...field('amount', 'amount_minor')} currency={currency} />
      <TextField label="When" type="datetime-local" {...field('at', 'moved_at')} />
      <TextField label="The provider’s receipt" optional {...field('receipt', 'provider_receipt')} maxLength={100} mono />
      <TextField label="Note" hint="Saved for the audit." {...field('note')} maxLength={500} />
    </FormDialog>
  )
}
