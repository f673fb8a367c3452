import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Permission } from '../../../../src/auth/permissions.ts'
import { api, call } from '../../api/client.ts'
import type { Body, Schemas } from '../../api/types.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { ControlsFields, controlsOfDraft, draftOfControls } from '../../ui/controls-fields.tsx'
import { Failure } from '../../ui/failure.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, Notice } from '../../ui/layout.tsx'
import { PermissionChecks } from '../developers/permission-checks.tsx'

type Authorization = Schemas['OAuthAuthorization']

const over: Readonly<Record<Exclude<Authorization['status'], 'pending'>, string>> = {
  approved: 'You have allowed this already. You can close this page.',
  denied: 'You have refused this. You can close this page.',
  expired: 'This request has run out of time: let the agent ask again.',
}

/** Who asks and where the answer goes: what a forged request can't hide. */
const Asker = ({ authorization }: { authorization: Authorization }) => {
  const { client, redirect_host: host, redirect_is_local: local, flow, user_code: code } = authorization
  return (
    <div className="stack-s">
      <div className="verdict">
        <span className="avatar avatar-large avatar-accent">
          <Icon name="robot" size={22} />
        </span>
        <div>
          <h1>{client.name}</h1>
          <p className="quiet">wants to act for you</p>
        </div>
      </div>
      {client.verified_host ? (
        <Notice tone="good">
          Its name is vouched for by <strong>{client.verified_host}</strong>.
        </Notice>
      ) : (
        <Notice tone="warn" title="Nobody vouches for this name">
          <p className="quiet">Any program can call itself so. Go on only if you started this yourself, just now.</p>
        </Notice>
      )}
      {host && (
        <p className="quiet">
          The answer goes to <strong className="mono break">{host}</strong>.
        </p>
      )}
      {local && (
        <Notice tone="warn" title="It goes to a program on this computer">
          <p className="quiet">Any program here could pretend to be this one. Allow it only if you have just started it.</p>
        </Notice>
      )}
      {flow === 'device' && code && (
        <p className="quiet">
          The device shows <strong className="mono">{code}</strong>. If it shows anything else, refuse.
        </p>
      )}
    </div>
  )
}

const decide = (authorization: Authorization, body: Body<'/v1/oauth/authorizations/{id}/decision', 'post'>) =>
  authorization.flow === 'device' && authorization.user_code
    ? call(api.POST('/v1/oauth/device/{user_code}/decision', { params: { path: { user_code: authorization.user_code } }, body }))
    : call(api.POST('/v1/oauth/authorizations/{id}/decision', { params: { path: { id: authorization.id } }, body }))

export const Consent = ({ authorization }: { authorization: Authorization }) => {
  const { account, workspace, currency } = useSession()
  const places = authorization.workspaces
  const [place, setPlace] = useState(() => (places.some(({ id }) => id === workspace.id) ? workspace.id : (places[0]?.id ?? '')))
  const held = places.find(({ id }) => id === place)?.permissions ?? []
  const [permissions, setPermissions] = useState<Permission[]>(authorization.scopes)
  const [draft, setDraft] = useState(() => draftOfControls(authorization.spending_controls))
  const chosen = permissions.filter((permission) => held.includes(permission))
  const controls = controlsOfDraft(draft)
  const answer = useMutation({
    mutationFn: (decision: 'approve' | 'deny') =>
      decide(
        authorization,
        decision === 'deny'
          ? { decision }
          : { decision, permissions: chosen, spending_controls: controls ?? {}, workspace_id: place },
      ),
    onSuccess: ({ redirect_to: to }) => location.assign(to),
  })
  if (authorization.status !== 'pending')
    return (
      <Empty icon="robot" title={authorization.client.name}>
        {over[authorization.status]}
      </Empty>
    )
  const busy = answer.isPending || answer.isSuccess
  const paysWithoutLimit = chosen.includes('payment.create') && controls !== null && Object.keys(controls).length === 0
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy && chosen.length > 0 && controls) answer.mutate('approve')
      }}
    >
      <Asker authorization={authorization} />
      <SelectField
        label="Where it may act"
        value={place}
        onChange={setPlace}
        options={places.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <div className="stack-s">
        <h2>What it may do</h2>
        <PermissionChecks
          offered={authorization.scopes.filter((scope) => held.includes(scope))}
          chosen={chosen}
          onChange={setPermissions}
        />
      </div>
      {chosen.includes('payment.create') && (
        <div className="stack-s">
          <h2>What it may spend</h2>
          <p className="quiet">These limits hold whatever it does. You can change them at any time.</p>
          <ControlsFields
            draft={draft}
            onChange={setDraft}
            currency={currency}
            error={answer.error}
            asked={authorization.spending_controls}
          />
          {paysWithoutLimit && (
            <Notice tone="warn">It may spend the whole balance, as far as your policies let it. A limit costs nothing.</Notice>
          )}
        </div>
      )}
      <Failure error={answer.error} />
      <div className="stack-s">
        <Button
          type="submit"
          variant="primary"
          size="large"
          wide
          busy={busy && answer.variables === 'approve'}
          disabled={chosen.length === 0 || !controls}
        >
          Allow {authorization.client.name}
        </Button>
        <Button size="large" wide busy={busy && answer.variables === 'deny'} onClick={() => answer.mutate('deny')}>
          Refuse
        </Button>
      </div>
      <p className="faint small">
        You are signed in as {nameOf(account)}. Take it back at any time under Developers, Connected agents.
      </p>
    </form>
  )
}
