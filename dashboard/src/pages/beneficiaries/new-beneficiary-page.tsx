import { Link, useLocation, useSearchParams } from 'wouter'
import { hasAccounts, phoneRail } from '../../../../src/lib/rail-names.ts'
import { useBanks } from '../../api/names.ts'
import { api, type Schemas } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import { type RailName, railFacts, railOptions } from '../../lib/rails.ts'
import { Allowed, useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CheckField, ChoiceField, fieldsOf, SelectField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Failure, Notice, Page } from '../../ui/page.tsx'

export const NewBeneficiaryPage = () => (
  <Page title="Add beneficiary" back={{ href: '/beneficiaries', label: 'Beneficiaries' }}>
    <Allowed permission="beneficiary.manage" action="add beneficiaries">
      <BeneficiaryForm />
    </Allowed>
  </Page>
)

const BeneficiaryForm = () => {
  const { account } = useSession()
  const [, navigate] = useLocation()
  const [params] = useSearchParams()
  const { value, set, clear } = useDraft('beneficiary', account.id, () => emptyBeneficiary)
  // In the first steps, the next one is to pay this beneficiary.
  const go = (id: string) => navigate(params.has('then_pay') ? `/payments/new?beneficiary=${id}` : `/beneficiaries/${id}`)
  const save = useChange((keyed) => api.POST('/v1/beneficiaries', keyed(bodyOf(value))), {
    announcement: (beneficiary) => `${beneficiary.display_name} added`,
    outdates: ['beneficiaries'],
    onDone: ({ id, warnings }) => {
      clear()
      if (warnings.length === 0) go(id)
    },
  })
  if (save.data && save.data.warnings.length > 0) return <SameNumber beneficiary={save.data} onKeep={() => go(save.data.id)} />
  return (
    <FormCard className="narrow" action="Add beneficiary" making={save} ready={isReady(value)}>
      <BeneficiaryFields value={value} set={set} error={save.error} />
      <p className="faint small">
        The destination is encrypted and can’t be changed later. To change it, archive this beneficiary and add a new one.
      </p>
    </FormCard>
  )
}

type Created = Schemas['CreatedBeneficiary']

/** The new one is there already: a person who did not mean a second one archives it. */
const SameNumber = ({ beneficiary, onKeep }: { beneficiary: Created; onKeep: () => void }) => {
  const [, navigate] = useLocation()
  const [first] = beneficiary.warnings
  const archive = useChange(() => api.DELETE('/v1/beneficiaries/{id}', { path: { id: beneficiary.id } }), {
    announcement: `${beneficiary.display_name} archived`,
    outdates: ['beneficiaries'],
    onDone: () => navigate(first ? `/beneficiaries/${first.beneficiary_id}` : '/beneficiaries'),
  })
  return (
    <Notice tone="warn" title="Another beneficiary has the same number">
      <p className="quiet">
        {beneficiary.warnings.map(({ beneficiary_id: id, display_name: name }, index) => (
          <span key={id}>
            {index > 0 && ', '}
            <Link href={`/beneficiaries/${id}`}>{name}</Link>
          </span>
        ))}{' '}
        {beneficiary.warnings.length === 1 ? 'is' : 'are'} paid at the number of {beneficiary.display_name}. Limits and freezes
        hold for all of them.
      </p>
      <div className="row">
        <Button variant="primary" onClick={onKeep}>
          Keep both
        </Button>
        <Button busy={archive.isPending} onClick={() => archive.mutate()}>
          Archive the new one
        </Button>
      </div>
      <Failure error={archive.error} />
    </Notice>
  )
}

const railChoices = railOptions.map((option) => ({ ...option, hint: railFacts[option.value].reach }))

type Props = { value: BeneficiaryDraft; set: (change: Partial<BeneficiaryDraft>) => void; error: unknown }

const BeneficiaryFields = ({ value, set, error }: Props) => {
  const { bank, destination } = railFacts[value.rail]
  const banks = useBanks().map(({ code, name }) => ({ value: code, label: name }))
  const field = fieldsOf(value, set, error)
  return (
    <>
      <ChoiceField label="Payment method" {...field('rail')} choices={railChoices} inRow />
      <TextField label="Name" {...field('name', 'display_name')} maxLength={120} autoFocus hint="How you know this beneficiary" />
      {bank && <SelectField label="Bank" {...field('bank', 'bank_code')} none="None: pay a mobile number" options={banks} />}
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
            {...field('referenceRequired')}
          />
        </div>
      </details>
    </>
  )
}

type BeneficiaryDraft = {
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

const emptyBeneficiary: BeneficiaryDraft = {
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

const isReady = (draft: BeneficiaryDraft): boolean => draft.name.trim() !== '' && draft.destination.trim() !== ''

const bodyOf = (draft: BeneficiaryDraft) => ({
  type: draft.type.trim() || railFacts[draft.rail].category,
  display_name: draft.name.trim(),
  payment_rail: draft.rail,
  destination: draft.destination.replaceAll(' ', ''),
  ...(draft.legalName.trim() && { legal_name: draft.legalName.trim() }),
  ...(draft.referenceRequired && { account_reference_required: true }),
  ...(referenceOf(draft) && { account_reference: referenceOf(draft) }),
  ...(bankCode(draft) && { bank_code: bankCode(draft) }),
})
