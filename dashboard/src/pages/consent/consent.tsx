import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { Permission } from '../../../../src/auth/permissions.ts'
import { hasCode } from '../../api/error.ts'
import { api, authorizationQuery, type Body, type Schemas } from '../../api/queries.ts'
import { controlsWords, isPowerful, wordsOfPermission } from '../../lib/rule-words.ts'
import { fullTime, now } from '../../lib/time.ts'
import { capitalized, countWords } from '../../lib/words.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession, useSignOut } from '../../shell/session.tsx'
import { SinglePage } from '../../shell/single-page.tsx'
import { Button, Icon, LinkButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import {
  accessLifetimes,
  type Controls,
  controlsOf,
  hasAmount,
  initialSpending,
  SpendChoice,
  spendingWords,
} from '../../ui/limits.tsx'
import { Badge, Empty, Facts, Failure, fieldError, Notice, SkeletonText, TextNotice } from '../../ui/page.tsx'
import { PermissionChecks } from '../developers/permission-checks.tsx'

type Authorization = Schemas['OAuthAuthorization']

const over: Readonly<Record<Exclude<Authorization['status'], 'pending'>, string>> = {
  approved: 'You already allowed this. You can close this page.',
  denied: 'You denied this. You can close this page.',
  expired: 'This request has expired. Start again from the app.',
}

const dayMs = 86_400_000

const decide = (authorization: Authorization, body: Body<'/v1/oauth/authorizations/{id}/decision', 'post'>) =>
  authorization.flow === 'device' && authorization.user_code
    ? api.POST('/v1/oauth/device/{user_code}/decision', { path: { user_code: authorization.user_code }, body })
    : api.POST('/v1/oauth/authorizations/{id}/decision', { path: { id: authorization.id }, body })

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
          options={accessLifetimes}
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

type Props = { authorization: Schemas['OAuthAuthorization']; sentence: string }

/** Who requests access, for what, and where the answer goes: what a forged request can't hide. */
const RequestSummary = ({ authorization, sentence }: Props) => {
  const { client, redirect_host: host, redirect_is_local: local, flow, user_code: code } = authorization
  const verified = client.verified_host !== null
  return (
    <div className="stack-s">
      <div className="row">
        <span className="avatar avatar-large tone-accent">
          <Icon name="robot" size={22} />
        </span>
        <span className="strong">{client.name}</span>
        {verified ? <Badge tone="good">{`Verified: ${client.verified_host}`}</Badge> : <Badge tone="warn">Unverified app</Badge>}
      </div>
      <h1 className="consent-sentence">{sentence}</h1>
      {local && (
        <TextNotice
          tone="warn"
          title={verified ? `The app opens by ${host}` : `The app opens by ${host}, and its name is not verified`}
        >
          Any program can use this address. Continue only if you just started the app yourself.
        </TextNotice>
      )}
      {!verified && !local && (
        <TextNotice tone="warn" title="This app’s name is not verified">
          Any program can use this name. Continue only if you started this yourself, just now.
        </TextNotice>
      )}
      {host && (
        <p className="quiet small">
          After you decide, you return to <strong className="mono break">{host}</strong>.
        </p>
      )}
      {flow === 'device' && code && (
        <p className="quiet">
          The device must show <strong className="mono">{code}</strong>. If it shows anything else, deny.
        </p>
      )}
    </div>
  )
}

const inSentence = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** What moves money or changes rules is always written out; the rest where it is short. */
const canWords = (chosen: readonly Permission[]): string => {
  const [powerful, harmless] = [chosen.filter(isPowerful), chosen.filter((permission) => !isPowerful(permission))]
  const rest = harmless.length <= 2 ? harmless.map(wordsOfPermission) : [`${harmless.length} more permissions, listed below`]
  return [...powerful.map(wordsOfPermission), ...rest].map((words, at) => (at === 0 ? words : inSentence(words))).join('; ')
}

const cannotWords = (chosen: readonly Permission[]): string =>
  capitalized(
    [
      ...(chosen.includes('payment.create') ? [] : ['move money']),
      ...(chosen.includes('beneficiary.manage') ? [] : ['add beneficiaries']),
      'approve payments',
      'raise its limits',
      'change policies or sign-in methods',
    ].join(', '),
  )

const newPayees: Readonly<Record<'allow' | 'require_approval' | 'deny', string>> = {
  allow: 'It pays beneficiaries that it adds itself without asking you.',
  require_approval: 'The first payment to each beneficiary that it adds waits for you.',
  deny: 'It can’t pay beneficiaries that it adds.',
}

type TermsProps = {
  chosen: readonly Permission[]
  /** Null while they can't be read or must still be chosen. */
  controls: Controls | null
  /** Whether the app asked for any of the amounts; else they are this page's suggestion. */
  requested: boolean
  currency: string
  endsAt: string | null
}

/** What is allowed, in four lines: what it can, what it can't, its limits and its end. They follow the choices below them. */
const ConsentTerms = ({ chosen, controls, requested, currency, endsAt }: TermsProps) => {
  const pays = chosen.includes('payment.create')
  const { new_payees = 'require_approval', ...amounts } = controls ?? {}
  return (
    <div className="consent-terms">
      <Facts
        facts={{
          'It can': chosen.length > 0 ? canWords(chosen) : 'Nothing yet: choose a permission below',
          'It can’t': cannotWords(chosen),
          Limits: pays ? (
            <>
              {controls ? controlsWords(amounts, currency, () => 'chosen beneficiaries') : 'Choose them below'}
              {!requested && controls && <span className="faint">, suggested by this page: the app asked for none</span>}
              {chosen.includes('beneficiary.manage') && <>. {newPayees[new_payees]}</>}
            </>
          ) : (
            'It moves no money, so it needs none'
          ),
          Ends: endsAt ? `${fullTime(endsAt)}, or when you revoke it` : 'When you revoke it',
        }}
      />
    </div>
  )
}

export const ConsentPage = () => {
  const [params] = useSearchParams()
  const id = params.get('authorization') ?? ''
  const authorization = useQuery({ ...authorizationQuery(id), enabled: id !== '' })
  return (
    <SinglePage title="Connect an agent" wide>
      {id === '' && (
        <Empty icon="robot" title="No request" actions={<LinkButton href="/agents">Agents</LinkButton>}>
          An agent sends you here when it wants to connect.
        </Empty>
      )}
      {id !== '' && authorization.isPending && <SkeletonText width="80%" height={60} />}
      {authorization.isError && (
        <div className="stack">
          <h1>Connect an agent</h1>
          {hasCode(authorization.error, 'not_found') ? (
            <Notice tone="bad" title="This request has expired or was already used." live>
              <p className="quiet">Go back to the app and start again.</p>
              <Link href="/agents">See your agents</Link>
            </Notice>
          ) : (
            <Failure error={authorization.error} onRetry={() => void authorization.refetch()} />
          )}
        </div>
      )}
      {authorization.data && <Consent authorization={authorization.data} />}
    </SinglePage>
  )
}
