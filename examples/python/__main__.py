import pulumi
import pulumi_uptime as uptime

site = "shop.example"

uptime.Domain("domain", name=site, homepage_url=f"https://{site}/")

home = uptime.Monitor(
    "home",
    name="Home page",
    url=f"https://{site}/",
    interval=300,
    ssl_alert_days=14,
)
uptime.Monitor(
    "checkout",
    name="Checkout",
    url=f"https://{site}/checkout",
    interval=60,
    alert_condition=uptime.MonitorAlertCondition.URL_NO_TEXT,
    alert_text_lookup="Pay now",
)

pulumi.export("home_id", home.id)
