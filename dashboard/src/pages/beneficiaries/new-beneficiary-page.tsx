import { Link, useLocation, useSearchParams } from 'wouter'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { useDraft } from '../../lib/drafts.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { FormCard } from '../../ui/form.tsx'
import { Notice, Page } from '../../ui/layout.tsx'
import { useChange } from '../../ui/use-change.ts'
import { BeneficiaryFields, bodyOf, emptyBeneficiary, isReady } from './beneficiary-fields.tsx'

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
  const save = useChange(
    (keyFor) => {
      const body = bodyOf(value)
      return call(api.POST('/v1/beneficiaries', { body, headers: keyFor(body) }))
    },
    {
      announcement: (beneficiary) => `${beneficiary.display_name} added`,
      outdates: ['beneficiaries'],
      onDone: ({ id, warnings }) => {
        clear()
        if (warnings.length === 0) go(id)
      },
    },
  )
  if (save.data && save.data.warnings.length > 0) return <SameNumber beneficiary={save.data} onKeep={() => go(save.data.id)} />
  return (
    <FormCard className="narrow" action="Add beneficiary" making={save} ready={isReady(value)} onSubmit={() => save.mutate()}>
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
  const archive = useChange(() => call(api.DELETE('/v1/beneficiaries/{id}', { params: { path: { id: beneficiary.id } } })), {
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
