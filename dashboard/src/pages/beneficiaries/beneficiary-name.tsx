import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Facts, Notice } from '../../ui/layout.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { useChange } from '../../ui/use-change.ts'

type Beneficiary = Schemas['Beneficiary']

const verdicts: Readonly<Record<Beneficiary['verification']['status'], string>> = {
  match: 'The same name',
  close_match: 'A similar name: compare the two',
  no_match: 'Another name',
  unavailable: 'The payment method gave no name: check the number with the beneficiary',
  unverified: 'Not checked yet, or name checks are off',
}

const reports = { lookup: 'When asked', payment: 'With a payment', daily_limit: 'Not checked: daily limit' } as const

/** Whose number it is, as the payment method reports it. */
export const BeneficiaryName = ({ beneficiary, manages }: { beneficiary: Beneficiary; manages: boolean }) => {
  const { verification } = beneficiary
  const again = useChange(() => call(api.POST('/v1/beneficiaries/{id}/verify', { params: { path: { id: beneficiary.id } } })), {
    announcement: 'Checking. The answer appears here.',
    outdates: ['beneficiary'],
  })
  return (
    <Card title="Name check">
      {verification.status === 'no_match' && (
        <Notice tone="warn" title="Another name is registered for this number">
          <p className="quiet">Ask the beneficiary for the right number before you pay.</p>
        </Notice>
      )}
      <Facts
        stacked
        facts={{
          'Registered name': verification.name && <bdi>{verification.name}</bdi>,
          Result:
            verification.source === 'daily_limit'
              ? 'Not checked, because today’s names are used up: check the number with the beneficiary'
              : verdicts[verification.status],
          Reported: verification.source && reports[verification.source],
          Checked: verification.checked_at && <ExactTime at={verification.checked_at} />,
        }}
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
