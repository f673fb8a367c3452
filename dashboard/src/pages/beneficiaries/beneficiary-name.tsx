import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { beneficiaryQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Facts, Notice } from '../../ui/layout.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'

type Beneficiary = Schemas['Beneficiary']

const verdicts: Readonly<Record<Beneficiary['verification']['status'], string>> = {
  match: 'The same name',
  close_match: 'A similar name: compare the two',
  no_match: 'Another name',
  unavailable: 'No name was given, which says neither yes nor no',
  unverified: 'Not asked: name checks are switched off, or have not run yet',
}

/** Whose number it is, as the payment method reports it. */
export const BeneficiaryName = ({ beneficiary, manages }: { beneficiary: Beneficiary; manages: boolean }) => {
  const client = useQueryClient()
  const { verification } = beneficiary
  const again = useMutation({
    mutationFn: () => call(api.POST('/v1/beneficiaries/{id}/verify', { params: { path: { id: beneficiary.id } } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: beneficiaryQuery(beneficiary.id).queryKey })
      announce('The payment method is asked. The answer appears here.')
    },
  })
  return (
    <Card title="Whose number it is">
      {verification.status === 'no_match' && (
        <Notice tone="warn" title="Another name is registered for this number">
          <p className="quiet">Ask the beneficiary for the right number before you pay.</p>
        </Notice>
      )}
      <Facts
        stacked
        facts={[
          ['Name at the payment method', verification.name && <bdi key="name">{verification.name}</bdi>],
          ['Compared with yours', verdicts[verification.status]],
          ['Reported', verification.source === 'payment' ? 'With a payment' : verification.source && 'When asked'],
          ['Checked', verification.checked_at && <ExactTime key="at" at={verification.checked_at} />],
        ]}
      />
      {manages && (
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          Check again
        </Button>
      )}
      <Failure error={again.error} />
    </Card>
  )
}
