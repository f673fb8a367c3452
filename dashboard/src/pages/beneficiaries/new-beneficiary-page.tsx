import { Link, useLocation, useSearchParams } from 'wouter'
import { hasAccounts, phoneRail, type RailName } from '../../../../src/lib/rail-names.ts'
import { useBanks } from '../../api/names.ts'
import { api, type Schemas } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { railFacts, railOptions } from '../../lib/rails.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CheckField, ChoiceField, fieldsOf, SelectField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Failure, Notice, Page } from '../../ui/page.tsx'
import { richPayee, tPayee } from './texts.ts'

export const NewBeneficiaryPage = () => (
  <Page title={tPayee('add')} back={{ href: '/beneficiaries', label: t('nav.beneficiaries') }}>
    <Allowed permission="beneficiary.manage" action={tPayee('to_add')}>
      <BeneficiaryForm />
    </Allowed>
  </Page>
)

const BeneficiaryForm = () => {
  const { account } = useSession()
  const [, navigate] = useLocation()
  const [params] = useSearchParams()
  const { value, set, clear } = useDraft('beneficiary', account.id, () => emptyBeneficiary)
  // The first steps set `then_pay`: the next page is the payment to this beneficiary.
  const go = (id: string) => navigate(params.has('then_pay') ? `/payments/new?beneficiary=${id}` : `/beneficiaries/${id}`)
  const save = useChange((keyed) => api.POST('/v1/beneficiaries', keyed(bodyOf(value))), {
    announcement: (beneficiary) => tPayee('add.done', { display_name: beneficiary.display_name }),
    invalidates: ['beneficiaries'],
    onDone: ({ id, warnings }) => {
      clear()
      if (warnings.length === 0) go(id)
    },
  })
  if (save.data && save.data.warnings.length > 0) return <SameNumber beneficiary={save.data} onKeep={() => go(save.data.id)} />
  return (
    <FormCard className="narrow" action={tPayee('add')} mutation={save} ready={isReady(value)}>
      <BeneficiaryFields value={value} set={set} error={save.error} />
      <p className="faint small">{tPayee('add.note')}</p>
    </FormCard>
  )
}

/** Shown after saving a duplicate: it already exists, so a person who did not want it archives it. */
const SameNumber = ({ beneficiary, onKeep }: { beneficiary: Schemas['CreatedBeneficiary']; onKeep: () => void }) => {
  const [, navigate] = useLocation()
  const [first] = beneficiary.warnings
  const archive = useChange(() => api.DELETE('/v1/beneficiaries/{id}', { path: { id: beneficiary.id } }), {
    announcement: tPayee('archive.done', { name: beneficiary.display_name }),
    invalidates: ['beneficiaries'],
    onDone: () => navigate(first ? `/beneficiaries/${first.beneficiary_id}` : '/beneficiaries'),
  })
  return (
    <Notice tone="warn" title={tPayee('same')}>
      <p className="muted">
        {richPayee('same.note', {
          count: beneficiary.warnings.length,
          name: beneficiary.display_name,
          names: beneficiary.warnings.map(({ beneficiary_id: id, display_name: name }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <Link href={`/beneficiaries/${id}`}>{name}</Link>
            </span>
          )),
        })}
      </p>
      <div className="row">
        <Button variant="primary" onClick={onKeep}>
          {tPayee('same.keep')}
        </Button>
        <Button busy={archive.isPending} onClick={() => archive.mutate()}>
          {tPayee('same.archive')}
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
      <ChoiceField label={tPayee('method')} {...field('rail')} choices={railChoices} inRow />
      <TextField label={tPayee('name')} {...field('name', 'display_name')} maxLength={120} autoFocus hint={tPayee('name.hint')} />
      {bank && (
        <SelectField label={tPayee('bank')} {...field('bank', 'bank_code')} emptyLabel={tPayee('bank.none')} options={banks} />
      )}
      <TextField {...destination} {...field('destination')} mono />
      {hasAccounts(value.rail) && !value.referenceRequired && (
        <TextField
          label={tPayee('paybill_account')}
          optional
          {...field('reference', 'account_reference')}
          maxLength={13}
          hint={tPayee('paybill_account.hint')}
          mono
        />
      )}
      <details>
        <summary className="muted small">{tPayee('more')}</summary>
        <div className="stack">
          <div className="columns">
            <TextField label={tPayee('legal_name')} optional {...field('legalName', 'legal_name')} maxLength={120} />
            <TextField label={tPayee('category')} optional {...field('type')} maxLength={64} hint={tPayee('category.hint')} />
          </div>
          <CheckField label={tPayee('require')} hint={tPayee('require.hint')} {...field('referenceRequired')} />
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
  /** Account behind a paybill. Empty: none, or a different one with each payment. */
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
