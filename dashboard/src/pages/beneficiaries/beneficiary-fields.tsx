import { hasAccounts } from '../../../../src/lib/rail-names.ts'
import { useBanks } from '../../api/use-banks.ts'
import { railFacts, railOptions } from '../../lib/rails.ts'
import { fieldError } from '../../ui/failure.tsx'
import { CheckField, ChoiceField, SelectField, TextField } from '../../ui/field.tsx'
import type { BeneficiaryDraft } from './beneficiary-form-state.ts'

const railChoices = railOptions.map((option) => ({ ...option, hint: railFacts[option.value].reach }))

type Props = { value: BeneficiaryDraft; set: (change: Partial<BeneficiaryDraft>) => void; error: unknown }

export const BeneficiaryFields = ({ value, set, error }: Props) => {
  const { bank, destination } = railFacts[value.rail]
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
      {bank && <BankField value={value} set={set} error={error} />}
      <TextField
        label={destination.label}
        value={value.destination}
        onChange={(destination) => set({ destination })}
        hint={destination.hint}
        placeholder={destination.placeholder}
        inputMode={destination.inputMode}
        mono
        error={fieldError(error, 'destination')}
      />
      {hasAccounts(value.rail) && !value.referenceRequired && (
        <TextField
          label="Account number at this paybill"
          optional
          value={value.reference}
          onChange={(reference) => set({ reference })}
          maxLength={13}
          hint="It is part of who is paid, and no payment can change it. A till has none."
          mono
          error={fieldError(error, 'account_reference')}
        />
      )}
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

const BankField = ({ value, set, error }: Props) => {
  const banks = useBanks().map(({ code, name }) => ({ value: code, label: name }))
  return (
    <SelectField
      label="Bank"
      value={value.bank}
      onChange={(bank) => set({ bank })}
      options={[{ value: '', label: 'None: pay a mobile number' }, ...banks]}
      error={fieldError(error, 'bank_code')}
    />
  )
}
