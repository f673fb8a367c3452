import { bankOptions, otherBank } from '../../lib/banks.ts'
import { type RailName, railOptions } from '../../lib/rails.ts'
import { fieldError } from '../../ui/failure.tsx'
import { CheckField, ChoiceField, SelectField, TextField } from '../../ui/field.tsx'
import type { BeneficiaryDraft } from './beneficiary-form-state.ts'

type Destination = { reach: string; label: string; hint: string; placeholder: string }

const destinations: Readonly<Record<RailName, Destination>> = {
  MPESA_B2C: {
    reach: 'KES 10 to 250,000',
    label: 'Mobile number',
    hint: 'A Kenyan number: 07…, 01… or +254…',
    placeholder: '0712 345 678',
  },
  MPESA_B2B: {
    reach: 'A paybill or a till',
    label: 'Paybill or till number',
    hint: '5 to 7 digits',
    placeholder: '888880',
  },
  PESALINK: {
    reach: 'KES 10 to 999,999',
    label: 'Account number',
    hint: 'Or a mobile number that is registered with PesaLink',
    placeholder: '0011547896523',
  },
}

const railChoices = railOptions.map((option) => ({ ...option, hint: destinations[option.value].reach }))

type Props = { value: BeneficiaryDraft; set: (change: Partial<BeneficiaryDraft>) => void; error: unknown }

export const BeneficiaryFields = ({ value, set, error }: Props) => {
  const wording = destinations[value.rail]
  return (
    <>
      <ChoiceField label="Payment method" value={value.rail} onChange={(rail) => set({ rail })} choices={railChoices} inRow />
      <TextField
        label="Name"
        value={value.name}
        onChange={(name) => set({ name })}
        maxLength={120}
        autoFocus
        hint="How you know this beneficiary"
        error={fieldError(error, 'display_name')}
      />
      {value.rail === 'PESALINK' && <BankFields value={value} set={set} error={error} />}
      <TextField
        label={wording.label}
        value={value.destination}
        onChange={(destination) => set({ destination })}
        hint={wording.hint}
        placeholder={wording.placeholder}
        inputMode={value.rail === 'PESALINK' ? 'text' : 'numeric'}
        mono
        error={fieldError(error, 'destination')}
      />
      <details>
        <summary className="quiet small">More options</summary>
        <div className="stack">
          <div className="columns">
            <TextField
              label="Legal name"
              optional
              value={value.legalName}
              onChange={(legalName) => set({ legalName })}
              maxLength={120}
              error={fieldError(error, 'legal_name')}
            />
            <TextField
              label="Category"
              optional
              value={value.type}
              onChange={(type) => set({ type })}
              maxLength={64}
              hint="For example supplier, employee, utility"
              error={fieldError(error, 'type')}
            />
          </div>
          <CheckField
            label="Require an account reference"
            hint="An invoice or account number with every payment."
            checked={value.referenceRequired}
            onChange={(referenceRequired) => set({ referenceRequired })}
          />
        </div>
      </details>
    </>
  )
}

const BankFields = ({ value, set, error }: Props) => (
  <div className="columns">
    <SelectField
      label="Bank"
      value={value.bank}
      onChange={(bank) => set({ bank })}
      options={[{ value: '', label: 'None: pay a mobile number' }, ...bankOptions]}
      error={value.bank === otherBank ? undefined : fieldError(error, 'bank_code')}
    />
    {value.bank === otherBank && (
      <TextField
        label="Bank code"
        value={value.otherCode}
        onChange={(otherCode) => set({ otherCode })}
        maxLength={16}
        inputMode="numeric"
        mono
        error={fieldError(error, 'bank_code')}
      />
    )}
  </div>
)
