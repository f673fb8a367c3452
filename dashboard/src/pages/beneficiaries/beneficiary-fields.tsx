import { hasAccounts, phoneRail } from '../../../../src/lib/rail-names.ts'
import { useBanks } from '../../api/use-banks.ts'
import { type RailName, railFacts, railOptions } from '../../lib/rails.ts'
import { CheckField, ChoiceField, fieldsOf, SelectField, TextField } from '../../ui/field.tsx'

const railChoices = railOptions.map((option) => ({ ...option, hint: railFacts[option.value].reach }))

type Props = { value: BeneficiaryDraft; set: (change: Partial<BeneficiaryDraft>) => void; error: unknown }

export const BeneficiaryFields = ({ value, set, error }: Props) => {
  const { bank, destination } = railFacts[value.rail]
  const banks = useBanks().map(({ code, name }) => ({ value: code, label: name }))
  const field = fieldsOf(value, set, error)
  return (
    <>
      <ChoiceField label="Payment method" {...field('rail')} choices={railChoices} inRow />
      <TextField label="Name" {...field('name', 'display_name')} maxLength={120} autoFocus hint="How you know this beneficiary" />
      {bank && (
        <SelectField
          label="Bank"
          {...field('bank', 'bank_code')}
          options={[{ value: '', label: 'None: pay a mobile number' }, ...banks]}
        />
      )}
      <TextField {...destination} {...field('destination')} mono />
      {hasAccounts(value.rail) && !value.referenceRequired && (
        <TextField
          label="Account number at this paybill"
          optional
          {...field('reference', 'account_reference')}
          maxLength={13}
          hint="It is part of who is paid, and no payment can change it. A till has none."
          mono
        />
      )}
      <details>
        <summary className="quiet small">More options</summary>
        <div className="stack">
          <div className="columns">
            <TextField label="Legal name" optional {...field('legalName', 'legal_name')} maxLength={120} />
            <TextField
              label="Category"
              optional
              {...field('type')}
              maxLength={64}
              hint="For example supplier, employee, utility"
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

export type BeneficiaryDraft = {
  rail: RailName
  name: string
  destination: string
  bank: string
  legalName: string
  type: string
  /** Of a paybill: the account behind it. Empty: none, or another one with each payment. */
  reference: string
  referenceRequired: boolean
}

export const emptyBeneficiary: BeneficiaryDraft = {
  rail: phoneRail,
  name: '',
  destination: '',
  bank: '',
  legalName: '',
  type: '',
  reference: '',
  referenceRequired: false,
}

const referenceOf = ({ rail, reference, referenceRequired }: BeneficiaryDraft): string =>
  hasAccounts(rail) && !referenceRequired ? reference.trim() : ''

const bankCode = ({ rail, bank }: BeneficiaryDraft): string => (railFacts[rail].bank ? bank : '')

export const isReady = (draft: BeneficiaryDraft): boolean => draft.name.trim() !== '' && draft.destination.trim() !== ''

export const bodyOf = (draft: BeneficiaryDraft) => ({
  type: draft.type.trim() || railFacts[draft.rail].category,
  display_name: draft.name.trim(),
  payment_rail: draft.rail,
  destination: draft.destination.replaceAll(' ', ''),
  ...(draft.legalName.trim() && { legal_name: draft.legalName.trim() }),
  ...(draft.referenceRequired && { account_reference_required: true }),
  ...(referenceOf(draft) && { account_reference: referenceOf(draft) }),
  ...(bankCode(draft) && { bank_code: bankCode(draft) }),
})
