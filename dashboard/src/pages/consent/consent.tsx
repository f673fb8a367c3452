import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { Permission } from '../../../../src/auth/permissions.ts'
import { hasCode } from '../../api/error.ts'
import { api, authorizationQuery, type Body, type Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { isPowerful, wordsOfPermission } from '../../lib/permission-words.ts'
import { controlsWords } from '../../lib/rule-words.ts'
import { initialSpending } from '../../lib/spending-defaults.ts'
import { type Controls, controlsFromChoice, hasAmount, spendingWords } from '../../lib/spending-draft.ts'
import { fullTime, now } from '../../lib/time.ts'
import { capitalized } from '../../lib/words.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession } from '../../shell/session.tsx'
import { useSignOut } from '../../shell/sign-out.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { accessLifetimes, SpendChoice } from '../../ui/limits.tsx'
import { Badge, Empty, Facts, Failure, fieldError, Notice, SkeletonText, TextNotice } from '../../ui/page.tsx'
import { PermissionChecks } from '../developers/permission-checks.tsx'
import { richConsent, tConsent } from './texts.ts'

type Authorization = Schemas['OAuthAuthorization']

const endedTexts: Readonly<Record<Exclude<Authorization['status'], 'pending'>, string>> = {
  approved: tConsent('over.approved'),
  denied: tConsent('over.denied'),
  expired: tConsent('over.expired'),
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
      <p className="muted">{endedTexts[authorization.status]}</p>
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
  const controls = pays ? controlsFromChoice(spending) : {}
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
  // The sentence has only the app's own request. Suggestions and the person's changes are shown below it.
  const amounts = hasAmount(authorization.spending_controls)
  const sentence = pays
    ? tConsent('wants_to_pay', {
        name: authorization.client.name,
        amount: amounts ? `${spendingWords(authorization.spending_controls, currency)} ` : '',
        from,
      })
    : tConsent('wants_access', { name: authorization.client.name, from })
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
          <legend className="strong">{tConsent('sensitive')}</legend>
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
          label={t('workspace')}
          value={place}
          onChange={setPlace}
          options={places.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <SelectField
          label={tConsent('ends_after')}
          value={days}
          onChange={setDays}
          options={accessLifetimes}
          error={fieldError(answer.error, 'expires_at')}
        />
      </div>
      {further.length > 0 && (
        <details open={further.length <= 4}>
          <summary className="strong">
            {tConsent(sensitive.length > 0 ? 'permissions.other' : 'permissions', { count: further.length })}
          </summary>
          <PermissionChecks offered={further} chosen={chosen} onChange={setPermissions} />
        </details>
      )}
      <SignedInAs />
      <div className="answer-bar">
        <Failure error={answer.error} />
        <div className="consent-answers">
          <Button size="large" wide busy={busy && answer.variables === 'deny'} onClick={() => answer.mutate('deny')}>
            {tConsent('deny')}
          </Button>
          <Button
            type="submit"
            variant="primary"
            size="large"
            wide
            busy={busy && answer.variables === 'approve'}
            disabled={!ready}
          >
            {tConsent('allow', { name: authorization.client.name })}
          </Button>
        </div>
      </div>
    </Form>
  )
}

/** The account that decides, and a link to change it. */
const SignedInAs = () => {
  const { account } = useSession()
  const signOut = useSignOut(location.pathname + location.search)
  return (
    <p className="faint small">
      {richConsent('signed_in_as', {
        person: nameOf(account),
        button: (
          <button type="button" className="link-button" onClick={() => signOut.mutate()}>
            {tConsent('not_you')}
          </button>
        ),
      })}
    </p>
  )
}

type Props = { authorization: Schemas['OAuthAuthorization']; sentence: string }

/** Client, requested access and redirect host, which a forged request cannot hide. */
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
        {verified ? (
          <Badge tone="good">{tConsent('verified', { verified_host: client.verified_host ?? '' })}</Badge>
        ) : (
          <Badge tone="warn">{tConsent('unverified')}</Badge>
        )}
      </div>
      <h1 className="consent-sentence">{sentence}</h1>
      {local && (
        <TextNotice
          tone="warn"
          title={verified ? tConsent('opens_by', { host: host ?? '' }) : tConsent('opens_by_unverified', { host: host ?? '' })}
        >
          {tConsent('any_address')}
        </TextNotice>
      )}
      {!verified && !local && (
        <TextNotice tone="warn" title={tConsent('name_unverified')}>
          {tConsent('any_name')}
        </TextNotice>
      )}
      {host && (
        <p className="muted small">{richConsent('returns_to', { host: <strong className="mono break">{host}</strong> })}</p>
      )}
      {flow === 'device' && code && (
        <p className="muted">{richConsent('device_shows', { code: <strong className="mono">{code}</strong> })}</p>
      )}
    </div>
  )
}

const inSentence = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Permissions in words. Always lists the ones that move money or change rules; lists the others only if there are few. */
const canWords = (chosen: readonly Permission[]): string => {
  const [powerful, harmless] = [chosen.filter(isPowerful), chosen.filter((permission) => !isPowerful(permission))]
  const rest =
    harmless.length <= 2
      ? harmless.map((permission) => wordsOfPermission(permission))
      : [tConsent('more_permissions', { count: harmless.length })]
  return [...powerful.map((permission) => wordsOfPermission(permission)), ...rest]
    .map((words, index) => (index === 0 ? words : inSentence(words)))
    .join('; ')
}

const cannotWords = (chosen: readonly Permission[]): string =>
  capitalized(
    [
      ...(chosen.includes('payment.create') ? [] : [tConsent('cannot.pay')]),
      ...(chosen.includes('beneficiary.manage') ? [] : [tConsent('cannot.payees')]),
      tConsent('cannot.approve'),
      tConsent('cannot.raise'),
      tConsent('cannot.rules'),
    ].join(', '),
  )

const newPayees: Readonly<Record<'allow' | 'require_approval' | 'deny', string>> = {
  allow: tConsent('payees.allow'),
  require_approval: tConsent('payees.ask'),
  deny: tConsent('payees.deny'),
}

type TermsProps = {
  chosen: readonly Permission[]
  /** Null while the limits are invalid or not chosen yet. */
  controls: Controls | null
  /** Whether the app requested limits on amounts. If not, the amounts are this page's suggestion. */
  requested: boolean
  currency: string
  endsAt: string | null
}

/** The terms in four lines: allowed, not allowed, limits and end. The lines change with the choices below. */
const ConsentTerms = ({ chosen, controls, requested, currency, endsAt }: TermsProps) => {
  const pays = chosen.includes('payment.create')
  const { new_payees = 'require_approval', ...amounts } = controls ?? {}
  return (
    <div className="consent-terms">
      <Facts
        facts={{
          [tConsent('can')]: chosen.length > 0 ? canWords(chosen) : tConsent('can.nothing'),
          [tConsent('cannot')]: cannotWords(chosen),
          [tConsent('limits')]: pays ? (
            <>
              {controls ? controlsWords(amounts, currency, () => tConsent('chosen_payees')) : tConsent('choose_below')}
              {!requested && controls && <span className="faint">{tConsent('suggested')}</span>}
              {chosen.includes('beneficiary.manage') && <>. {newPayees[new_payees]}</>}
            </>
          ) : (
            tConsent('no_money')
          ),
          [tConsent('ends')]: endsAt ? tConsent('ends_at', { at: fullTime(endsAt) }) : tConsent('ends_revoked'),
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
    <SinglePage title={tConsent('connect')} wide>
      {id === '' && (
        <Empty icon="robot" title={tConsent('no_request')} actions={<LinkButton href="/agents">{t('nav.agents')}</LinkButton>}>
          {tConsent('no_request.note')}
        </Empty>
      )}
      {id !== '' && authorization.isPending && <SkeletonText width="80%" height={60} />}
      {authorization.isError && (
        <div className="stack">
          <h1>{tConsent('connect')}</h1>
          {hasCode(authorization.error, 'not_found') ? (
            <Notice tone="bad" title={tConsent('gone')} live>
              <p className="muted">{tConsent('gone.note')}</p>
              <Link href="/agents">{tConsent('see_agents')}</Link>
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
