import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import { hasCode } from '../../api/error.ts'
import { authorizationQuery } from '../../api/queries.ts'
import { useTitle } from '../../lib/title.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Empty, Notice, SkeletonText } from '../../ui/layout.tsx'
import { Consent } from './consent.tsx'

export const ConsentPage = () => {
  useTitle('Connect an agent')
  const [params] = useSearchParams()
  const id = params.get('authorization') ?? ''
  const authorization = useQuery({ ...authorizationQuery(id), enabled: id !== '' })
  return (
    <SinglePage wide>
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
