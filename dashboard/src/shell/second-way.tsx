import { Link } from 'wouter'
import { Icon } from '../ui/icon.tsx'
import { useSession } from './session.tsx'

/** Until there is a second sign-in method: who loses the only one loses the account. */
export const SecondWay = ({ onFollow }: { onFollow?: () => void }) => {
  const { account } = useSession()
  if (account.identities.length > 1) return null
  return (
    <Link href="/account" className="nav-link" {...(onFollow && { onClick: onFollow })}>
      <Icon name="alert" />
      Add a second way in
    </Link>
  )
}
