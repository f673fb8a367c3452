import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { madeByQuery, policiesMadeByQuery } from '../../api/queries.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Card } from '../../ui/layout.tsx'
import { Badge } from '../../ui/status.tsx'
import { archiveBeneficiaries, archivePolicies, confirmBeneficiaries } from './made-acts.ts'

type Act = 'confirm' | 'archive' | 'archive policies'
const mostShown = 5

const beneficiaryCount = (count: number): string => countWords(count, 'beneficiary', 'beneficiaries')
const policyCount = (count: number): string => countWords(count, 'policy', 'policies')

/** What it left behind that others are paid by or bound by: looked at, confirmed or archived together. Nothing where it made nothing. */
export const MadeByAgent = ({ grantId, label }: { grantId: string; label: string }) => {
  const { can } = useSession()
  const [act, setAct] = useState<Act | null>(null)
  const close = () => setAct(null)
  const payees = useInfiniteQuery({ ...madeByQuery(grantId), enabled: can('beneficiary.read') })
  const rules = useInfiniteQuery({ ...policiesMadeByQuery(grantId), enabled: can('policy.read') })
  const beneficiaries = (payees.data?.pages.flatMap((page) => page.data) ?? []).filter(({ status }) => status !== 'archived')
  const proposed = beneficiaries.filter(({ confirmation }) => confirmation === 'proposed')
  const policies = (rules.data?.pages.flatMap((page) => page.data) ?? []).filter(
    ({ status, created_by: maker }) => status === 'active' && maker.grant_id === grantId,
  )
  if (beneficiaries.length + policies.length === 0) return null
  return (
    <Card title="What it made" note={[beneficiaryCount(beneficiaries.length), policyCount(policies.length)].join(', ')} flush>
      {beneficiaries.length > 0 && (
        <section aria-label="Beneficiaries that it made">
          <ul className="rows">
            {beneficiaries.slice(0, mostShown).map(({ id, display_name: name, confirmation, verification }) => (
              <li key={id} className="item">
                <span className="item-main">
                  <Link href={`/beneficiaries/${id}`}>{name}</Link>
                </span>
                {verification.status === 'no_match' && <Badge tone="bad">Another name</Badge>}
                {confirmation === 'proposed' && <Badge tone="warn">Not confirmed</Badge>}
              </li>
            ))}
          </ul>
          <div className="card-footer">
            <Link href={`/beneficiaries?made_by=${grantId}`} className="small">
              View {beneficiaries.length === 1 ? 'it' : `all ${beneficiaries.length}`}
            </Link>
            {can('beneficiary.manage') && (
              <>
                {proposed.length > 0 && (
                  <Button size="small" onClick={() => setAct('confirm')}>
                    Confirm {beneficiaryCount(proposed.length)}
                  </Button>
                )}
                <Button size="small" variant="danger" onClick={() => setAct('archive')}>
                  Archive {beneficiaryCount(beneficiaries.length)}
                </Button>
              </>
            )}
          </div>
        </section>
      )}
      {policies.length > 0 && (
        <section aria-label="Policies that it made">
          <ul className="rows">
            {policies.slice(0, mostShown).map(({ id, name }) => (
              <li key={id} className="item">
                <span className="item-main">
                  <Link href={`/policies/${id}`}>{name}</Link>
                </span>
              </li>
            ))}
          </ul>
          {can('policy.manage') && (
            <div className="card-footer">
              <Button size="small" variant="danger" onClick={() => setAct('archive policies')}>
                Archive {policyCount(policies.length)}
              </Button>
            </div>
          )}
        </section>
      )}
      {act === 'confirm' && (
        <Confirm
          title={`Confirm ${beneficiaryCount(proposed.length)}?`}
          action="Confirm all"
          harmless
          change={() => confirmBeneficiaries(proposed)}
          announcement={(count) => `${beneficiaryCount(count)} confirmed`}
          outdates={['beneficiaries', 'beneficiary']}
          onClose={close}
        >
          <p>
            Look at each before you confirm it: payments to it by keys and agents then go out without asking. <bdi>{label}</bdi>{' '}
            made them.
          </p>
        </Confirm>
      )}
      {act === 'archive' && (
        <Confirm
          title={`Archive ${beneficiaryCount(beneficiaries.length)}?`}
          action="Archive all"
          change={() => archiveBeneficiaries(grantId)}
          announcement={(count) => `${beneficiaryCount(count)} archived`}
          outdates={['beneficiaries', 'beneficiary']}
          onClose={close}
        >
          <p>
            No one can pay what <bdi>{label}</bdi> created or renamed any more. Payments already sent still arrive.
          </p>
        </Confirm>
      )}
      {act === 'archive policies' && (
        <Confirm
          title={`Archive ${policyCount(policies.length)}?`}
          action="Archive all"
          change={() => archivePolicies(grantId)}
          announcement={(count) => `${policyCount(count)} archived`}
          outdates={['policies', 'policy']}
          onClose={close}
        >
          <p>
            Every active policy that <bdi>{label}</bdi> created stops applying right away. Policies by people stay.
          </p>
        </Confirm>
      )}
    </Card>
  )
}
