import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { termsInWords } from '../../../../src/policy/term-words.ts'
import { hasCode } from '../../api/error.ts'
import { useBeneficiaries, useBeneficiaryNames, usePeople } from '../../api/names.ts'
import { api, policiesQuery, policyQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { policySentence, termWords } from '../../lib/rule-words.ts'
import { makerText } from '../../lib/words.ts'
import { Allowed, LoadState, useSession } from '../../shell/session.tsx'
import { Button, NewLink, Submit } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Confirm, Form, useIdempotencyKey } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Card, Empty, Facts, Failure, fieldError, Page } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { ArchiveMadePolicies, useMadePolicies } from '../agents/made-by-agent.tsx'
import { PendingChange } from './pending-change.tsx'
import { PolicyControls, usePolicyForm } from './policy-controls.tsx'

const back = { href: '/policies', label: 'Policies' }

export const NewPolicyPage = () => (
  <Page title="New policy" back={back}>
    <Allowed permission="policy.create" action="add policies">
      <PolicyForm policy={null} />
    </Allowed>
  </Page>
)

export const PolicyPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const policy = useQuery(policyQuery(id))
  const editable = can('policy.manage') && policy.data?.status === 'active'
  return (
    <Page
      title={policy.data?.name ?? 'Policy'}
      back={back}
      lead={policy.data?.status === 'archived' ? 'Archived: it no longer applies.' : null}
    >
      <LoadState query={policy} path={`/v1/spending-policies/${id}`} />
      {policy.data?.pending_change && <PendingChange policy={policy.data} waiting={policy.data.pending_change} />}
      {/* A newer version begins the form anew: what was typed was about the older one. */}
      {policy.data &&
        (editable ? (
          <PolicyForm key={policy.data.version} policy={policy.data} />
        ) : (
          <>
            <PolicyDetail policy={policy.data} />
            <MadeBy policy={policy.data} />
          </>
        ))}
    </Page>
  )
}

type Policy = Schemas['SpendingPolicy']

const waitsText = 'The change waits for another approver, or for 24 hours'

/** Creates a policy, or changes one. A change names the version it was made from, so that two people don't overwrite each other. */
const PolicyForm = ({ policy }: { policy: Policy | null }) => {
  const { currency } = useSession()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const keyed = useIdempotencyKey()
  const { draft, terms, set, clear } = usePolicyForm(policy)
  const beneficiaries = useBeneficiaries(draft.beneficiary_ids)
  const [archiving, setArchiving] = useState(false)

  const leave = (saved: Policy) => {
    clear()
    client.setQueryData(policyQuery(saved.id).queryKey, saved)
    navigate('/policies')
  }
  const save = useMutation({
    mutationFn: () => {
      if (!terms) throw new Error('Correct the amounts first.')
      const body = { name: draft.name.trim(), ...terms }
      return policy
        ? api.PATCH('/v1/spending-policies/{id}', {
            path: { id: policy.id },
            body: { ...body, version: policy.version },
          })
        : api.POST('/v1/spending-policies', keyed(body))
    },
    onSuccess: (saved) => {
      announce(saved.pending_change ? waitsText : policy ? 'Policy saved' : 'Policy turned on')
      void client.invalidateQueries({ queryKey: ['policies'] })
      leave(saved)
    },
    onError: (error) => {
      if (policy && hasCode(error, 'conflict')) void client.invalidateQueries({ queryKey: policyQuery(policy.id).queryKey })
    },
  })
  const ready = draft.name.trim() !== '' && terms !== null
  return (
    <>
      <Form className="split" ready={ready} busy={save.isPending} onSubmit={() => save.mutate()}>
        <Card
          footer={
            <>
              {policy && (
                <Button variant="danger" onClick={() => setArchiving(true)}>
                  Archive
                </Button>
              )}
              <Submit busy={save.isPending} disabled={!ready}>
                {policy ? 'Save policy' : 'Turn on policy'}
              </Submit>
            </>
          }
        >
          <TextField
            label="Name"
            value={draft.name}
            onChange={(name) => set({ name })}
            maxLength={120}
            placeholder="For example: Office expenses"
            autoFocus={!policy}
            error={fieldError(save.error, 'name')}
          />
          <PolicyControls draft={draft} set={set} beneficiaries={beneficiaries} error={save.error} />
          <Failure error={save.error} />
        </Card>
        <div className="stack split-aside">
          <Card title="Summary">
            <p className="sentence" aria-live="polite">
              {terms
                ? policySentence(terms, policy, { currency, nameOf: beneficiaries.nameOf })
                : 'Correct the amounts to see the summary.'}
            </p>
          </Card>
          {policy && <MadeBy policy={policy} />}
        </div>
      </Form>
      {policy && archiving && (
        <Confirm
          title="Archive this policy?"
          action="Archive"
          change={() => api.DELETE('/v1/spending-policies/{id}', { path: { id: policy.id } })}
          announcement={(saved) => (saved.status === 'archived' ? 'Policy archived' : waitsText)}
          outdates={['policies']}
          onChanged={leave}
          onClose={() => setArchiving(false)}
        >
          <p>
            It stops applying right away, or after 24 hours where two people are asked for. Payments already waiting for its
            approval keep waiting.
          </p>
        </Confirm>
      )}
    </>
  )
}

/** For a policy that a key or an agent created: who that was, and the way to archive everything that it created. */
const MadeBy = ({ policy: { created_by: maker, binds } }: { policy: Schemas['SpendingPolicy'] }) => {
  const { can } = useSession()
  const by = makerText(maker, usePeople())
  const made = useMadePolicies(maker.grant_id)
  const [, navigate] = useLocation()
  if (maker.grant_id === null) return null
  const archives = can('policy.manage') && made.length > 0 && (
    <ArchiveMadePolicies made={made} by={by} label="Archive all it created" onChanged={() => navigate('/policies')} />
  )
  return (
    <Card title="Who created it" footer={archives}>
      <p>
        <bdi>{by}</bdi> created this policy.
        {binds !== 'all' && ' It applies only to payments by that key or agent, and by keys below it.'}
      </p>
    </Card>
  )
}

const PolicyDetail = ({ policy }: { policy: Policy }) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames(policy.beneficiary_ids)
  const personOf = usePeople()
  return (
    <Card>
      <p className="sentence">{policySentence(policy, policy, { currency, nameOf })}</p>
      <Facts stacked facts={termsInWords(policy, termWords({ currency, nameOf, personOf }))} />
    </Card>
  )
}

export const PoliciesPage = () => {
  const { can, currency } = useSession()
  const query = policiesQuery('active')
  const nameOf = useBeneficiaryNames(rowsOf(useInfiniteQuery(query)).flatMap(({ beneficiary_ids: ids }) => ids))
  const create = can('policy.create') && <NewLink href="/policies/new">New policy</NewLink>
  return (
    <Page
      title="Policies"
      lead="Spending and approval rules for everyone and every agent in this workspace. If several apply, the strictest wins."
      actions={create}
    >
      <List
        label="Policies"
        query={query}
        rows={3}
        empty={
          <Empty icon="policy" title="No policy yet" actions={create}>
            Without one, only the balance and each key’s own limits stop a payment. A policy can limit spending and require
            approval above an amount.
          </Empty>
        }
      >
        {(policy) => (
          <Item
            href={`/policies/${policy.id}`}
            icon="policy"
            title={policy.name}
            note={policySentence(policy, policy, { currency, nameOf })}
          >
            {policy.pending_change && <Badge tone="warn">A change waits</Badge>}
          </Item>
        )}
      </List>
    </Page>
  )
}
