import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Permission } from '../../../../src/auth/permissions.ts'
import { api, call } from '../../api/client.ts'
import type { Body, Schemas } from '../../api/types.ts'
import { now } from '../../lib/clock.ts'
import { countWords } from '../../lib/list-words.ts'
import { isPowerful } from '../../lib/permission-words.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession } from '../../shell/session.tsx'
import { useSignOut } from '../../shell/sign-out.ts'
import { Button } from '../../ui/button.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { controlsOf, hasAmount, initialSpending, SpendChoice, spendingWords } from '../../ui/spend-choice.tsx'
import { PermissionChecks } from '../developers/permission-checks.tsx'
import { ConsentTerms } from './consent-terms.tsx'
import { RequestSummary } from './request-summary.tsx'

type Authorization = Schemas['OAuthAuthorization']

const over: Readonly<Record<Exclude<Authorization['status'], 'pending'>, string>> = {
  approved: 'You already allowed this. You can close this page.',
  denied: 'You denied this. You can close this page.',
  expired: 'This request has expired. Start again from the app.',
}

const dayMs = 86_400_000
const lifetimes = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '', label: 'No end date' },
]

const decide = (authorization: Authorization, body: Body<'/v1/oauth/authorizations/{id}/decision', 'post'>) =>
  authorization.flow === 'device' && authorization.user_code
    ? call(api.POST('/v1/oauth/device/{user_code}/decision', { params: { path: { user_code: authorization.user_code } }, body }))
    : call(api.POST('/v1/oauth/authorizations/{id}/decision', { params: { path: { id: authorization.id } }, body }))

export const Consent = ({ authorization }: { authorization: Authorization }) => {
  if (authorization.status === 'pending') return <ConsentForm authorization={authorization} />
  return (
    <div className="stack">
      <h1>{authorization.client.name}</h1>
      <p className="quiet">{over[authorization.status]}</p>
    </div>
  )
}

const ConsentForm = ({ authorization }: { authorization: Authorization }) => {
  const { workspace, currency } = useSession()
  const places = authorization.workspaces
  const [place, setPlace] = useState(() => (places.some(({ id }) => id === workspace.id) ? workspace.id : (places[0]?.id ?? '')))
  const [permissions, setPermissions] = useState<Permission[]>(authorization.scopes)
  const [spending, setSpending] = useState(() => initialSpending(authorization.spending_controls))
  const [days, setDays] = useState('90')
  const [openedAt] = useState(() => now())
  const held = places.find(({ id }) => id === place)?.permissions ?? []
  const chosen = permissions.filter((permission) => held.includes(permission))
  const pays = chosen.includes('payment.create')
  const controls = pays ? controlsOf(spending) : {}
  const answer = useMutation({
    mutationFn: (decision: 'approve' | 'deny') =>
      decide(
        authorization,
        decision === 'deny'
          ? { decision }
          : {
              decision,
              permissions: chosen,
              spending_controls: controls ?? {},
              workspace_id: place,
              ...(endsAt && { expires_at: endsAt }),
            },
      ),
    onSuccess: ({ redirect_to: to }) => location.assign(to),
  })
  const from = places.find(({ id }) => id === place)?.name ?? workspace.name
  // What the app asked for itself: what this page suggests or the person changes stands in the lines below.
  const amounts = hasAmount(authorization.spending_controls)
  const sentence = pays
    ? `${authorization.client.name} wants to pay ${amounts ? `${spendingWords(authorization.spending_controls, currency)} ` : ''}from ${from}`
    : `${authorization.client.name} wants access to ${from}`
  const endsAt = days ? new Date(openedAt + Number(days) * dayMs).toISOString() : null
  const offered = authorization.scopes.filter((scope) => held.includes(scope))
  const [sensitive, further] = [offered.filter(isPowerful), offered.filter((permission) => !isPowerful(permission))]
  const busy = answer.isPending || answer.isSuccess
  const ready = chosen.length > 0 && controls !== null
  return (
    <Form className="stack" ready={ready} busy={busy} onSubmit={() => answer.mutate('approve')}>
      <RequestSummary authorization={authorization} sentence={sentence} />
      <ConsentTerms chosen={chosen} controls={controls} requested={amounts} currency={currency} endsAt={endsAt} />
      {sensitive.length > 0 && (
        <fieldset className="stack-s">
          <legend className="strong">Sensitive permissions</legend>
          <PermissionChecks offered={sensitive} chosen={chosen} onChange={setPermissions} />
        </fieldset>
      )}
      {pays && (
        <SpendChoice
          value={spending}
          onChange={setSpending}
          currency={currency}
          error={answer.error}
          {...(authorization.spending_controls && { requested: authorization.spending_controls })}
        />
      )}
      <div className="columns">
        <SelectField
          label="Workspace"
          value={place}
          onChange={setPlace}
          options={places.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <SelectField
          label="Access ends after"
          value={days}
          onChange={setDays}
          options={lifetimes}
          error={fieldError(answer.error, 'expires_at')}
        />
      </div>
      {further.length > 0 && (
        <details open={further.length <= 4}>
          <summary className="strong">
            {countWords(further.length, sensitive.length > 0 ? 'other permission' : 'permission')}
          </summary>
          <PermissionChecks offered={further} chosen={chosen} onChange={setPermissions} />
        </details>
      )}
      <SignedInAs />
      <div className="answer-bar">
        <Failure error={answer.error} />
        <div className="consent-answers">
          <Button size="large" wide busy={busy && answer.variables === 'deny'} onClick={() => answer.mutate('deny')}>
            Deny
          </Button>
          <Button
            type="submit"
            variant="primary"
            size="large"
            wide
            busy={busy && answer.variables === 'approve'}
            disabled={!ready}
          >
            Allow {authorization.client.name}
          </Button>
        </div>
      </div>
    </Form>
  )
}

/** Whose account the decision is for, and a way to change it. */
const SignedInAs = () => {
  const { account } = useSession()
  const signOut = useSignOut(location.pathname + location.search)
  return (
    <p className="faint small">
      Signed in as {nameOf(account)}.{' '}
      <button type="button" className="link-button" onClick={() => signOut.mutate()}>
        Not you?
      </button>{' '}
      You can revoke access at any time under Agents.
    </p>
  )
}
