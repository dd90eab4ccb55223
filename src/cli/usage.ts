/** What `donectl` can do, for people at a terminal. */
export function usage(): string {
  return `donectl — one task list that people and AI agents share

  donectl serve [--data DIR] [--port N] [--host ADDRESS] [--site URL]
          [--allow-outbound HOST[:PORT],NETWORK,…]
      Start the server: web pages, REST and MCP over HTTP.
  donectl mcp [--data DIR] [--tools PRESET[,PRESET]]
      Speak MCP on stdin and stdout. Needs no running server and works beside one.
      DONE_TOKEN sets another agent than "local".
  donectl token create --name AGENT --scope read|write [--data DIR]
          [--tools PRESET] [--projects P1,P2] [--days N] [--account NAME]
      Make a token for an agent and print it, once.
  donectl signin-link [--account NAME] [--data DIR]
      Print a one-time link that signs the owner in.
  donectl account create NAME --owner PERSON [--data DIR]
      Make one more account, strictly apart from the others, and print its owner's
      one-time link. donectl account list names them all.
  donectl verify [--data DIR]
      Check that every closed task that needed a person has a sign-off that holds.
  donectl doctor [--data DIR] [--json]
      Look at permissions, keys, versions, clock, disk, schema and the rest that keeps
      an installation well, and say what to do. Changes nothing.
  donectl backup [--to FILE] [--data DIR]
      Copy all data into one file while servers run, and check the copy. The key is not
      in it. Of either engine, for either engine.
  donectl restore --from FILE [--data DIR]
      Put a backup into a folder without data, or into the empty PostgreSQL database of
      DATABASE_URL. Ends all sessions and links.
  donectl migrate-engine --to postgres|embedded [--data DIR]
      Move all data between the folder and the PostgreSQL database of DATABASE_URL,
      checked row by row. What was stopped goes on; nothing is taken from the old place.
  donectl call TOOL [--argument VALUE …] [--json] [--data DIR]
      Call a tool as the agent "local", or as the one of DONE_TOKEN.
  donectl tools [TOOL]
      List the tools and what each does, or explain one.

Data lie in ~/.done unless --data or DONE_DATA says otherwise.`
}
