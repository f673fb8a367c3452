import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation, useSearchParams } from 'wouter'
import { api, call } from '../../api/client.ts'
import { useDraft } from '../../lib/drafts.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, PageHeader } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { BeneficiaryFields } from './beneficiary-fields.tsx'
import { bodyOf, emptyBeneficiary, isReady } from './beneficiary-form-state.ts'

export const NewBeneficiaryPage = () => (
  <div className="stack">
    <PageHeader title="Add beneficiary" back={{ href: '/beneficiaries', label: 'Beneficiaries' }} />
    <Allowed permission="beneficiary.manage" action="add beneficiaries">
      <BeneficiaryForm />
    </Allowed>
  </div>
)

const BeneficiaryForm = () => {
  const { account } = useSession()
  const [, navigate] = useLocation()
  const [params] = useSearchParams()
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const { value, set, clear } = useDraft('beneficiary', account.id, () => emptyBeneficiary)
  const save = useMutation({
    mutationFn: () => {
      const body = bodyOf(value)
      return call(api.POST('/v1/beneficiaries', { body, headers: keyFor(body) }))
    },
    onSuccess: (beneficiary) => {
      clear()
      void client.invalidateQueries({ queryKey: ['beneficiaries'] })
      announce(`${beneficiary.display_name} added`)
      // In the first steps, the next one is to pay this beneficiary.
      navigate(params.has('then_pay') ? `/payments/new?beneficiary=${beneficiary.id}` : `/beneficiaries/${beneficiary.id}`)
    },
  })
  const ready = isReady(value)
  return (
    <Form className="narrow" ready={ready} busy={save.isPending} onSubmit={() => save.mutate()}>
      <Card
        footer={
          <Button type="submit" variant="primary" busy={save.isPending} disabled={!ready}>
            Add beneficiary
          </Button>
        }
      >
        <div className="stack">
          <BeneficiaryFields value={value} set={set} error={save.error} />
          <p className="faint small">
            The destination is encrypted and can’t be changed later. To change it, archive this beneficiary and add a new one.
          </p>
          <Failure error={save.error} />
        </div>
      </Card>
    </Form>
  )
}
