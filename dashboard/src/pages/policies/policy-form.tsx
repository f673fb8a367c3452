import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import {
  type DuplicateAnswer,
  duplicateAnswers,
  newPayeeAnswers,
  payeeVerificationAnswers,
} from '../../../../src/lib/policy-answers.ts'
import { api, call } from '../../api/client.ts'
import { hasCode } from '../../api/error.ts'
import { policyQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { policySentence } from '../../lib/policy-sentence.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { CheckField, MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card } from '../../ui/layout.tsx'
import { BeneficiariesField, PaymentTypesField } from '../../ui/scope-fields.tsx'
import { announce } from '../../ui/toast.tsx'
import { MadeBy } from './made-by.tsx'
import { type AmountField, usePolicyForm } from './policy-form-state.ts'
import { Replay } from './replay.tsx'

type Policy = Schemas['SpendingPolicy']

const amounts: readonly { field: AmountField; path: string; label: string }[] = [
  { field: 'per_payment', path: 'per_payment_limit_minor', label: 'Per-payment limit' },
  { field: 'daily', path: 'daily_limit_minor', label: 'Daily limit' },
  { field: 'monthly', path: 'monthly_limit_minor', label: 'Monthly limit' },
]

const approvalCounts = Array.from({ length: 11 }, (_, count) => ({
  value: String(count),
  label: count === 0 ? 'None' : count === 1 ? '1 person' : `${count} people`,
}))

const answerLabels: Readonly<Record<DuplicateAnswer, string>> = {
  warn: 'Warn',
  confirm: 'Must say that a second payment is meant',
  require_approval: 'Require approval',
  deny: 'Refuse',
}
const duplicateOptions = [
  { value: '', label: 'No rule of this policy' },
  ...duplicateAnswers.map((answer) => ({ value: answer, label: answerLabels[answer] })),
]

const verificationOptions = [
  { value: '', label: 'No rule of this policy' },
  { value: 'off', label: 'No warning' },
  { value: 'warn', label: 'Warn' },
  { value: 'require_approval', label: 'Require approval' },
  { value: 'deny', label: 'Refuse' },
]

const newPayeeOptions = [
  { value: '', label: 'No rule of this policy' },
  { value: 'require_approval', label: 'Require approval' },
  { value: 'deny', label: 'Refuse' },
]

const windows = [
  { value: '', label: 'Within the service’s usual time' },
  { value: '3600', label: 'Within an hour' },
  { value: '86400', label: 'Within a day' },
  { value: '604800', label: 'Within 7 days' },
]
/** A policy that was made through the API may have any number of seconds. */
const windowOptions = (chosen: string) =>
  windows.some(({ value }) => value === chosen) ? windows : [...windows, { value: chosen, label: `Within ${chosen} seconds` }]

/** Creates a policy, or changes one. A change names the version it was made from, so that two people don't overwrite each other. */
export const PolicyForm = ({ policy }: { policy: Policy | null }) => {
  const { currency, workspace } = useSession()
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
      announce(policy ? 'Policy saved' : 'Policy turned on')
      void client.invalidateQueries({ queryKey: ['policies'] })
      leave(saved)
    },
    onError: (error) => {
      if (policy && hasCode(error, 'conflict')) void client.invalidateQueries({ queryKey: policyQuery(policy.id).queryKey })
    },
  })
  const ready = draft.name.trim() !== '' && terms !== null
  const problem = (field: AmountField, path: string) =>
    invalid(field) ? 'Enter an amount such as 1500 or 1,500.50' : fieldError(save.error, path)
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
              <Button type="submit" variant="primary" busy={save.isPending} disabled={!ready}>
                {policy ? 'Save policy' : 'Turn on policy'}
              </Button>
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
            <fieldset className="stack">
              <legend className="visually-hidden">What it applies to</legend>
              <BeneficiariesField
                beneficiaries={beneficiaries}
                hint="Leave empty to apply to everyone."
                chosen={draft.beneficiary_ids}
                onChange={(ids) => set({ beneficiary_ids: ids })}
              />
              <PaymentTypesField
                hint="A payment method, or a type of your own. Leave empty to apply to every type."
                chosen={draft.payment_types}
                onChange={(types) => set({ payment_types: types })}
              />
            </fieldset>
            <fieldset>
              <legend className="visually-hidden">Limits</legend>
              <div className="columns columns-3">
                {amounts.map(({ field, path, label }) => (
                  <MoneyField
                    key={field}
                    label={label}
                    optional
                    value={draft[field]}
                    onChange={(value) => set({ [field]: value })}
                    currency={currency}
                    error={problem(field, path)}
                  />
                ))}
              </div>
              <p className="field-hint" style={{ marginTop: '6px' }}>
                Days and months follow the workspace’s time zone, {workspace.time_zone.replaceAll('_', ' ')}.
              </p>
            </fieldset>
            <fieldset className="stack">
              <legend className="visually-hidden">Approval</legend>
              <div className="columns">
                <MoneyField
                  label="Require approval at or above"
                  optional
                  value={draft.threshold}
                  onChange={(threshold) => set({ threshold, ...(draft.approvals === 0 && threshold !== '' && { approvals: 1 }) })}
                  currency={currency}
                  hint={draft.approvals > 0 && draft.threshold.trim() === '' && 'If empty, every payment needs approval.'}
                  error={problem('threshold', 'approval_threshold_minor')}
                />
                <SelectField
                  label="Approvals needed"
                  value={String(draft.approvals)}
                  onChange={(count) => set({ approvals: Number(count) })}
                  options={approvalCounts}
                  error={fieldError(save.error, 'required_approval_count')}
                />
              </div>
              <CheckField
                label="Requester can’t approve their own payment"
                hint="A payment by an agent counts as its owner’s."
                checked={draft.separation}
                onChange={(separation) => set({ separation })}
              />
              <CheckField
                label="Only approvals by passkey or wallet count"
                hint="Approvers add a passkey (Face ID, fingerprint or a security key) on their Account page."
                checked={draft.signed}
                onChange={(signed) => set({ signed })}
              />
            </fieldset>
            <SelectField
              label="If a key or an agent made the beneficiary"
              hint="Until a person has confirmed it."
              value={draft.new_payees}
              onChange={(answer) => set({ new_payees: newPayeeAnswers.find((known) => known === answer) ?? '' })}
              options={newPayeeOptions}
              error={fieldError(save.error, 'new_payees')}
            />
            <SelectField
              label="If the name is not confirmed"
              hint="The payment method reports another name for the number, or none."
              value={draft.payee_verification}
              onChange={(answer) => set({ payee_verification: payeeVerificationAnswers.find((known) => known === answer) ?? '' })}
              options={verificationOptions}
              error={fieldError(save.error, 'payee_verification')}
            />
            <fieldset className="columns">
              <legend className="visually-hidden">Possible duplicates</legend>
              <SelectField
                label="If a payment repeats a recent one"
                hint="The same amount and reference, to the same beneficiary."
                value={draft.on_duplicate}
                onChange={(answer) => set({ on_duplicate: duplicateAnswers.find((known) => known === answer) ?? '' })}
                options={duplicateOptions}
                error={fieldError(save.error, 'on_duplicate')}
              />
              {draft.on_duplicate !== '' && (
                <SelectField
                  label="How recent"
                  value={draft.duplicate_window}
                  onChange={(duplicate_window) => set({ duplicate_window })}
                  options={windowOptions(draft.duplicate_window)}
                  error={fieldError(save.error, 'duplicate_window_seconds')}
                />
              )}
            </fieldset>
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
          announcement={() => 'Policy archived'}
          outdates={['policies']}
          onChanged={leave}
          onClose={() => setArchiving(false)}
        >
          <p>It stops applying right away. Payments already waiting for its approval keep waiting.</p>
        </Confirm>
      )}
    </>
  )
}
