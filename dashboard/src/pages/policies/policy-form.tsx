import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, call } from '../../api/client.ts'
import { hasCode } from '../../api/error.ts'
import { policyQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { policySentence } from '../../lib/policy-sentence.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { MadeBy } from './made-by.tsx'
import { PolicyControls } from './policy-controls.tsx'
import { usePolicyForm } from './policy-form-state.ts'
import { Replay } from './replay.tsx'

type Policy = Schemas['SpendingPolicy']

const waitsText = 'The change waits for another approver, or for 24 hours'

/** Creates a policy, or changes one. A change names the version it was made from, so that two people don't overwrite each other. */
export const PolicyForm = ({ policy }: { policy: Policy | null }) => {
  const { currency } = useSession()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const beneficiaries = useBeneficiaries(policy?.beneficiary_ids)
  const { draft, terms, set, clear, invalid } = usePolicyForm(policy)
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
        ? call(
            api.PATCH('/v1/spending-policies/{id}', {
              params: { path: { id: policy.id } },
              body: { ...body, version: policy.version },
            }),
          )
        : call(api.POST('/v1/spending-policies', { body, headers: keyFor(body) }))
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
          <div className="stack">
            <TextField
              label="Name"
              value={draft.name}
              onChange={(name) => set({ name })}
              maxLength={120}
              placeholder="For example: Office expenses"
              autoFocus={!policy}
              error={fieldError(save.error, 'name')}
            />
            <PolicyControls draft={draft} set={set} invalid={invalid} beneficiaries={beneficiaries} error={save.error} />
            <Failure error={save.error} />
          </div>
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
          {(!policy || policy.binds === 'all') && <Replay terms={terms} />}
        </div>
      </Form>
      {policy && archiving && (
        <Confirm
          title="Archive this policy?"
          action="Archive"
          change={() => call(api.DELETE('/v1/spending-policies/{id}', { params: { path: { id: policy.id } } }))}
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
