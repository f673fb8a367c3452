import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { api, type Listed, madeByQuery, policiesMadeByQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { t } from '../../lib/language.ts'
import { useSession } from '../../shell/session.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { richAgent, tAgent } from './texts.ts'

type Beneficiary = Schemas['Beneficiary']
const maxShown = 5

const beneficiaryCount = (count: number): string => tAgent('beneficiaries', { count })
const policyCount = (count: number): string => tAgent('policies', { count })

type AllProps = {
  ids: readonly string[]
  verb: 'confirm' | 'archive'
  count: (count: number) => string
  harmless?: boolean
  change: (id: string) => Promise<unknown>
  invalidates: readonly string[]
  onChanged?: () => void
  /** Button label without a count. */
  label?: string
  children: ReactNode
}

/** Applies one action to all shown items. Items that an agent adds meanwhile are left out. */
const BulkAction = ({ ids, verb, count, harmless = false, change, label, ...confirm }: AllProps) => {
  const words = tAgent(`${verb}.what`, { what: count(ids.length) })
  return (
    <ConfirmButton
      button={{
        ...(label === undefined && { size: 'small' }),
        variant: harmless ? 'secondary' : 'danger',
        children: label ?? words,
      }}
      title={`${words}?`}
      action={tAgent(`${verb}.all`)}
      harmless={harmless}
      // Runs in sequence: a failure leaves earlier items done and later ones unchanged.
      change={async () => {
        for (const id of ids) await change(id)
        return ids.length
      }}
      announcement={(number) => tAgent(`${verb}.done`, { what: count(number) })}
      {...confirm}
    />
  )
}

type ActsProps = { made: readonly Beneficiary[]; label?: string }

export const MadeBeneficiariesActs = ({ made, label = t('key_or_agent') }: ActsProps) => {
  const proposed = made.filter(({ confirmation }) => confirmation === 'proposed')
  const shared = { count: beneficiaryCount, invalidates: ['beneficiaries', 'beneficiary'] }
  return (
    <>
      {proposed.length > 0 && (
        <BulkAction
          {...shared}
          ids={proposed.map(({ id }) => id)}
          verb="confirm"
          harmless
          change={(id) => api.POST('/v1/beneficiaries/{id}/confirm', { path: { id } })}
        >
          <p>{richAgent('made.look', { bdi: <bdi>{label}</bdi> })}</p>
        </BulkAction>
      )}
      {made.length > 0 && (
        <BulkAction
          {...shared}
          ids={made.map(({ id }) => id)}
          verb="archive"
          change={(id) => api.DELETE('/v1/beneficiaries/{id}', { path: { id } })}
        >
          <p>{richAgent('made.archive', { bdi: <bdi>{label}</bdi> })}</p>
        </BulkAction>
      )}
    </>
  )
}

/** All rows of a list. Empty until every page is read, because an action on all of them must not leave any out. */
const useAll = <Row,>(query: Listed<Row>): Row[] => {
  const list = useEvery(query)
  return list.hasNextPage ? [] : rowsOf(list)
}

/** Beneficiaries that the grant created or renamed and that are not archived. */
export const useMadeBeneficiaries = (grantId: string): Beneficiary[] => {
  const { can } = useSession()
  return useAll({ ...madeByQuery(grantId), enabled: can('beneficiary.read') })
}

/** Active policies that the grant created. Leaves out policies that the grant only changed. */
export const useMadePolicies = (grantId: string | null): Schemas['SpendingPolicy'][] => {
  const { can } = useSession()
  const made = useAll({ ...policiesMadeByQuery(grantId ?? '', 'active'), enabled: grantId !== null && can('policy.read') })
  return made.filter(({ created_by: maker }) => maker.grant_id === grantId)
}

type PoliciesProps = Pick<AllProps, 'onChanged' | 'label'> & { made: readonly Schemas['SpendingPolicy'][]; by: string }

export const ArchiveMadePolicies = ({ made, by, ...rest }: PoliciesProps) => (
  <BulkAction
    ids={made.map(({ id }) => id)}
    verb="archive"
    count={policyCount}
    change={(id) => api.DELETE('/v1/spending-policies/{id}', { path: { id } })}
    invalidates={['policies', 'policy']}
    {...rest}
  >
    <p>{richAgent('made.policies', { bdi: <bdi>{by}</bdi> })}</p>
  </BulkAction>
)

/** Beneficiaries and policies of an agent that are not archived, to review, confirm or archive together. */
export const MadeByAgent = ({ grantId, label }: { grantId: string; label: string }) => {
  const { can } = useSession()
  const beneficiaries = useMadeBeneficiaries(grantId)
  const policies = useMadePolicies(grantId)
  if (beneficiaries.length + policies.length === 0) return null
  return (
    <Card
      title={tAgent('made_by_it')}
      note={[beneficiaryCount(beneficiaries.length), policyCount(policies.length)].join(', ')}
      flush
    >
      {beneficiaries.length > 0 && (
        <section aria-label={tAgent('made.payees')}>
          <Rows items={beneficiaries.slice(0, maxShown)}>
            {({ id, display_name: name, confirmation, verification }) => (
              <Item title={<Link href={`/beneficiaries/${id}`}>{name}</Link>}>
                {verification.status === 'no_match' && <Badge tone="bad">{tAgent('other_name')}</Badge>}
                {confirmation === 'proposed' && <Badge tone="warn">{tAgent('not_confirmed')}</Badge>}
              </Item>
            )}
          </Rows>
          <div className="row row-end card-footer">
            <Link href={`/beneficiaries?made_by=${grantId}`} className="small">
              {tAgent('view', {
                what: beneficiaries.length === 1 ? tAgent('it') : tAgent('all', { length: beneficiaries.length }),
              })}
            </Link>
            {can('beneficiary.manage') && <MadeBeneficiariesActs made={beneficiaries} label={label} />}
          </div>
        </section>
      )}
      {policies.length > 0 && (
        <section aria-label={tAgent('made.its_policies')}>
          <Rows items={policies.slice(0, maxShown)}>
            {({ id, name }) => <Item title={<Link href={`/policies/${id}`}>{name}</Link>} />}
          </Rows>
          {can('policy.manage') && (
            <div className="row row-end card-footer">
              <ArchiveMadePolicies made={policies} by={label} />
            </div>
          )}
        </section>
      )}
    </Card>
  )
}
