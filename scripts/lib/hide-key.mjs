const flag = '--api-key';

/**
 * Takes the API key out of arguments for a child process, whose command line everybody on the computer can read.
 * Arguments that are wrong stay as they are, for the app to say so.
 * @returns the other arguments, and the environment variable that says the same.
 */
export function hideKey(args) {
  const places = args.flatMap((arg, index) => (arg === flag || arg.startsWith(`${flag}=`) ? [index] : []));
  const [place] = places;
  if (places.length !== 1) return { args, env: {} };
  const joined = args[place] !== flag;
  const key = joined ? args[place].slice(flag.length + 1) : args[place + 1];
  if (key === undefined || key === '' || (!joined && key.startsWith('-'))) return { args, env: {} };
  return { args: args.toSpliced(place, joined ? 1 : 2), env: { DORMOUSE_API_KEY: key } };
}
