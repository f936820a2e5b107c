// A bare request.
const { request } = require("undici");

exports.send = async (method, path, form) => {
  const { statusCode, body } = await request(`${process.env.UPTIME_BASE_URL}/api/v1/monitors${path}`, {
    method,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${process.env.UPTIME_API_KEY}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: form && new URLSearchParams(form).toString(),
  });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${method} was answered with ${statusCode}: ${text}`);
  return text === "" ? {} : JSON.parse(text);
};
