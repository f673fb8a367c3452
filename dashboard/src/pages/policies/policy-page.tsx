import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { termsInWords } from '../../../../src/policy/term-words.ts'
import { hasCode } from '../../api/error.ts'
import { useBeneficiaries, useBeneficiaryNames, usePeople } from '../../api/names.ts'
import { api, policiesQuery, policyQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { policySentence, termWords } from '../../lib/rule-words.ts'
import { leftOf, shortMoney } from '../../lib/words.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, NewLink, Submit } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Confirm, Form, useIdempotencyKey } from '../../ui/form.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Card, Empty, Facts, Failure, fieldError, Page } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { PendingChange } from './pending-change.tsx'
import { PolicyControls, usePolicyForm } from './policy-controls.tsx'
import { tPolicy } from './texts.ts'

// Loads on demand: people create most policies.
const MadeBy = lazyPart(async () => (await import('./made-by.tsx')).MadeBy)

const back = { href: '/policies', label: t('policies') }

export const NewPolicyPage = () => (
  <Page title={tPolicy('new')} back={back}>
    <Allowed permission="policy.create" action={tPolicy('to_add')}>
      <PolicyForm policy={null} />
    </Allowed>
  </Page>
)

export const PolicyPage = ({ id }: { id: string }) => {
  const { can } = useSession()
  const policy = useQuery(policyQuery(id))
  const editable = can('policy.manage') && policy.data?.status === 'active'
  const version = policy.data?.version
  const shown = useRef(version)
  // Someone else changed it: a save leaves the page.
  useEffect(() => {
    if (editable && shown.current !== undefined && shown.current !== version) announce(tPolicy('changed_meanwhile'), 'info')
    shown.current = version
  }, [editable, version])
  return (
    <Page
      title={policy.data?.name ?? tPolicy('policy')}
      back={back}
      lead={policy.data?.status === 'archived' ? tPolicy('archived') : null}
    >
      <LoadState query={policy} apiPath={`/v1/spending-policies/${id}`} />
      {policy.data?.pending_change && <PendingChange policy={policy.data} waiting={policy.data.pending_change} />}
      {/* A newer version resets the form, because typed values refer to the older version. */}
      {policy.data &&
        (editable ? (
          <PolicyForm key={policy.data.version} policy={policy.data} />
        ) : (
          <>
            <PolicyDetail policy={policy.data} />
            {policy.data.created_by.grant_id !== null && <MadeBy policy={policy.data} />}
          </>
        ))}
    </Page>
  )
}

type Policy = Schemas['SpendingPolicy']

const waitsText = tPolicy('waits_text')

/** Creates or changes a policy. A change names its base version, so that two people cannot overwrite each other. */
const PolicyForm = ({ policy }: { policy: Policy | null }) => {
  const { currency } = useSession()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const keyed = useIdempotencyKey()
  const { draft, terms, set, clear } = usePolicyForm(policy)
  const beneficiaries = useBeneficiaries(draft.beneficiary_ids)
  const [archiving, setArchiving] = useState(false)

  const finish = (saved: Policy) => {
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
      announce(saved.pending_change ? waitsText : policy ? tPolicy('saved') : tPolicy('turned_on'))
      void client.invalidateQueries({ queryKey: ['policies'] })
      finish(saved)
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
                  {tPolicy('archive')}
                </Button>
              )}
              <Submit busy={save.isPending} disabled={!ready}>
                {policy ? tPolicy('save') : tPolicy('turn_on')}
              </Submit>
            </>
          }
        >
          <TextField
            label={tPolicy('name')}
            value={draft.name}
            onChange={(name) => set({ name })}
            maxLength={120}
            placeholder={tPolicy('name.example')}
            autoFocus={!policy}
            error={fieldError(save.error, 'name')}
          />
          <PolicyControls draft={draft} set={set} beneficiaries={beneficiaries} error={save.error} />
          <Failure error={save.error} />
        </Card>
        <div className="stack split-aside">
          <Card title={tPolicy('summary')}>
            <p className="sentence" aria-live="polite">
              {terms ? policySentence(terms, policy, { currency, nameOf: beneficiaries.nameOf }) : tPolicy('summary.wrong')}
            </p>
          </Card>
          {policy && policy.created_by.grant_id !== null && <MadeBy policy={policy} />}
        </div>
      </Form>
      {policy && archiving && (
        <Confirm
          title={tPolicy('archive.title')}
          action={tPolicy('archive')}
          change={() => api.DELETE('/v1/spending-policies/{id}', { path: { id: policy.id } })}
          announcement={(saved) => (saved.status === 'archived' ? tPolicy('archive.done') : waitsText)}
          invalidates={['policies']}
          onChanged={finish}
          onClose={() => setArchiving(false)}
        >
          <p>{tPolicy('archive.note')}</p>
        </Confirm>
      )}
    </>
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
  const create = can('policy.create') && <NewLink href="/policies/new">{tPolicy('new')}</NewLink>
  return (
    <Page title={t('policies')} lead={tPolicy('lead')} actions={create}>
      <List
        label={t('policies')}
        query={query}
        rows={3}
        empty={
          <Empty icon="policy" title={tPolicy('none_yet')} actions={create}>
            {tPolicy('none_yet.note')}
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
            {policy.total_limit_minor && policy.usage?.total_minor && (
              <span className="figure small">
                {tPolicy('left', {
                  amount: shortMoney(leftOf({ used: policy.usage.total_minor, limit: policy.total_limit_minor }), currency),
                })}
              </span>
            )}
            {policy.pending_change && <Badge tone="warn">{tPolicy('change_waits')}</Badge>}
          </Item>
        )}
      </List>
    </Page>
  )
}
