import { Button } from '../components/button.js'
import { Refusal } from '../components/notice.js'

/** In the place of a page that could not be loaded or drawn: the service may be away, or be newer than this page. */
export function PageFault({ error }: { error: unknown }) {
  return (
    <>
      <Refusal error={error} />
      <p>
        <Button onPress={() => location.reload()}>Load the page again</Button>
      </p>
    </>
  )
}
